//! The evaluations of two papers on Snowflake's demands, which are not shipped: on demands drawn to be like them, or on the public
//! data set, when a user has it.

mod drawn;
mod experiment;
mod fair_shares;
mod karma;
mod quarters;
mod source;

pub(crate) use fair_shares::{fig2, fig3, fig4, fig5, fig6};
pub(crate) use karma::{karma_fig6, karma_fig7, karma_fig8};
pub(crate) use source::Source;

use fairplan::report::reproduction::KnownReason;

/// Why numbers differ, as far as it was tested or the papers allow to say.
pub(crate) fn reasons() -> Vec<KnownReason> {
    [&[karma::FIG_6][..], &fair_shares::REASONS].concat()
}

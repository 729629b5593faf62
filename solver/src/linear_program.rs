//! A linear program, or one with whole numbers, as plain data: what is solved, whoever solves it.

use fairplan_instances::InstanceError;

/// Lower is better, or higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sense {
    Minimise,
    Maximise,
}

/// A row, by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Row(pub usize);

/// A column, by its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Col(pub usize);

/// A variable of at least 0.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    /// What one of it adds to the objective.
    pub cost: f64,
    pub most: f64,
    pub is_whole: bool,
    pub entries: Vec<(Row, f64)>,
}

/// Rows and columns in the order in which they were added.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub sense: Sense,
    /// Each between these two.
    pub rows: Vec<(f64, f64)>,
    pub columns: Vec<Column>,
}

impl Program {
    pub fn new(sense: Sense) -> Self {
        Self { sense, rows: Vec::new(), columns: Vec::new() }
    }

    pub fn maximise() -> Self {
        Self::new(Sense::Maximise)
    }

    pub fn minimise() -> Self {
        Self::new(Sense::Minimise)
    }

    /// At least this much of the entries that the row has or will have.
    pub fn at_least(&mut self, least: f64, entries: impl IntoIterator<Item = (Col, f64)>) -> Row {
        self.add_row((least, f64::INFINITY), entries)
    }

    /// At most this much.
    pub fn at_most(&mut self, most: f64, entries: impl IntoIterator<Item = (Col, f64)>) -> Row {
        self.add_row((f64::NEG_INFINITY, most), entries)
    }

    /// Exactly this much.
    pub fn equal(&mut self, much: f64, entries: impl IntoIterator<Item = (Col, f64)>) -> Row {
        self.add_row((much, much), entries)
    }

    fn add_row(&mut self, bounds: (f64, f64), entries: impl IntoIterator<Item = (Col, f64)>) -> Row {
        let row = Row(self.rows.len());
        self.rows.push(bounds);
        for (column, entry) in entries {
            self.columns[column.0].entries.push((row, entry));
        }
        row
    }

    /// A variable between 0 and `most`.
    pub fn column(
        &mut self,
        cost: f64,
        most: f64,
        is_whole: bool,
        entries: impl IntoIterator<Item = (Row, f64)>,
    ) -> Col {
        let column = Col(self.columns.len());
        self.columns.push(Column { cost, most, is_whole, entries: entries.into_iter().collect() });
        column
    }
}

/// What a solver is told; where nothing is said it does as it likes.
#[cfg_attr(not(feature = "highs"), expect(dead_code, reason = "some are for HiGHS alone"))]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    /// By how much rows and bounds may be broken.
    pub primal: Option<f64>,
    /// By how much a column may be worth more than it costs.
    pub dual: Option<f64>,
    /// By the simplex method, whose optima are vertices.
    pub simplex: bool,
    /// Without simplifying the program first.
    pub as_it_is: bool,
    /// Entries below this count as none.
    pub smallest_entry: Option<f64>,
    /// How whole numbers are looked for.
    pub branching: Option<Branching>,
}

/// How whole numbers are looked for: until no others can be better.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Branching {
    /// By how much a whole number may be missed.
    pub whole: f64,
    /// Nodes after which the best so far is returned: the same on every machine, unlike a time.
    pub most_nodes: i32,
}

/// How solving ended.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Ended {
    Optimal,
    /// Nothing fits all rows and bounds; or, of a program that is bounded, perhaps.
    Infeasible,
    /// After the most nodes, with the best so far.
    MostNodes,
    OutOfTime,
    /// With numbers that are not known to be optimal, nor to break anything.
    Undecided,
    /// In the solver's own word.
    Otherwise(String),
}

/// What solving ended with. Numbers may be anything unless it ended optimal.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    pub ended: Ended,
    pub columns: Vec<f64>,
    /// What one more of each row's bound adds to the objective.
    pub multipliers: Vec<f64>,
    /// What the columns are worth.
    pub value: f64,
    /// No whole numbers are better than this; known only where they were looked for.
    pub bound: f64,
}

impl Outcome {
    /// The same if it is an optimum of numbers.
    ///
    /// # Errors
    /// Where time was over, or the solver ended otherwise.
    pub fn optimal(self) -> Result<Self, InstanceError> {
        match self.ended {
            Ended::Optimal if self.is_finite() => Ok(self),
            Ended::OutOfTime => Err(InstanceError::OutOfTime),
            _ => Err(self.unusable()),
        }
    }

    /// The error of a solver that ended so.
    pub fn unusable(&self) -> InstanceError {
        let problem = match &self.ended {
            Ended::Otherwise(word) => format!("stopped with status {word}"),
            ended if self.is_finite() => format!("stopped with status {ended:?}"),
            _ => "it returned numbers that are not finite".into(),
        };
        InstanceError::Backend { backend: "simplex", problem }
    }

    /// Whether columns and multipliers are numbers.
    pub fn is_finite(&self) -> bool {
        self.columns.iter().chain(&self.multipliers).all(|x| x.is_finite())
    }
}

/// The power of two nearest to `x`, or one: scaling by it changes no digit.
pub(crate) fn power(x: f64) -> f64 {
    if x > 0.0 { x.log2().round().exp2() } else { 1.0 }
}

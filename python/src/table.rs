//! A table in Arrow's columns, which pandas, polars and pyarrow take without a copy.

use crate::failure::raised;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchIterator, types};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::ArrowError;
use fairplan::Error;
use fairplan::instances::table;
use fairplan::report::table::{TextForm, batches};
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyDict, PyList};

/// Columns of equal length.
#[pyclass(frozen, module = "fairplan._native")]
pub struct Table {
    batches: Vec<RecordBatch>,
}

impl Table {
    /// All rows of a table, whose numbers are finite.
    pub fn new(table: &table::Table<'_>) -> Result<Self, Error> {
        Self::with(table, TextForm::Plain)
    }

    /// The same, with texts in this form where they are kept side by side.
    pub fn with(table: &table::Table<'_>, form: TextForm) -> Result<Self, Error> {
        Ok(Self { batches: batches(table, form).map_err(Error::backend)? })
    }
}

#[pymethods]
impl Table {
    /// The rows as an Arrow stream; every call begins a new one.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // A producer may ignore what is requested.
        drop(requested_schema);
        let schema = self.batches[0].schema();
        let batches: Vec<_> = self.batches.iter().cloned().map(Ok).collect();
        let stream = FFI_ArrowArrayStream::new(Box::new(RecordBatchIterator::new(batches, schema)));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// From what `to_ipc` gives.
    #[staticmethod]
    fn from_ipc(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let read = || {
            let reader = StreamReader::try_new(bytes, None)?;
            let schema = reader.schema();
            let mut batches = reader.collect::<Result<Vec<_>, _>>()?;
            if batches.is_empty() {
                batches.push(RecordBatch::new_empty(schema));
            }
            Ok(Self { batches })
        };
        read().map_err(|error: ArrowError| raised(py, Error::backend(error), None))
    }

    /// The rows as an Arrow stream in bytes, which may be kept and sent.
    fn to_ipc<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let written = || {
            let mut bytes = Vec::new();
            let mut writer = StreamWriter::try_new(&mut bytes, &self.batches[0].schema())?;
            self.batches.iter().try_for_each(|batch| writer.write(batch))?;
            writer.finish()?;
            drop(writer);
            Ok(bytes)
        };
        let bytes = written().map_err(|error: ArrowError| raised(py, Error::backend(error), None))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batches[0].schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    /// The cells of a column as Python's own values.
    fn column<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyList>> {
        let cells = PyList::empty(py);
        for batch in &self.batches {
            let column = batch.column_by_name(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
            for row in 0..column.len() {
                cells.append(cell(py, column, row)?)?;
            }
        }
        Ok(cells)
    }

    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let columns = PyDict::new(py);
        for name in self.column_names() {
            columns.set_item(&name, self.column(py, &name)?)?;
        }
        Ok(columns)
    }
}

/// One cell; `None` where there is none.
fn cell<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    Ok(if let Some(column) = column.as_string_opt::<i32>() {
        column.value(row).into_pyobject(py)?.into_any()
    } else if let Some(column) = column.as_primitive_opt::<types::Float64Type>() {
        column.value(row).into_pyobject(py)?.into_any()
    } else if let Some(column) = column.as_primitive_opt::<types::UInt64Type>() {
        column.value(row).into_pyobject(py)?.into_any()
    } else if let Some(column) = column.as_primitive_opt::<types::UInt32Type>() {
        column.value(row).into_pyobject(py)?.into_any()
    } else if let Some(column) = column.as_boolean_opt() {
        column.value(row).into_pyobject(py)?.to_owned().into_any()
    } else {
        let problem = format!("a column of type {} has no cells in Python", column.data_type());
        return Err(raised(py, Error::backend(problem), None));
    })
}

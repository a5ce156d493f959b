// Iterations that end when a signal handler raises.
//
// A handler may raise in the middle of iterators that are written in Python. They would then go on without the element
// that they were making. So the iterator that a user gets is wrapped once, around all others: it ends after such an
// exception.

#include "bindings/bindings.h"
#include "bindings/boxed.h"

namespace py = pybind11;

namespace tfr {
namespace {

struct Iteration {
  py::object elements;   // null once a handler has raised
  Py_ssize_t left = -1;  // elements that may still come; negative: any number
};

PyObject* New(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject* elements = nullptr;
  Py_ssize_t most = -1;
  if (!PyArg_ParseTuple(arguments, "O|n:Iteration", &elements, &most)) return nullptr;
  if (!PyIter_Check(elements)) throw py::type_error("Iteration takes an iterator");
  return Box(type, Iteration{py::reinterpret_borrow<py::object>(elements), most});
}

bool RaisedByHandler(const py::object& error) {
  return py::module_::import("tfrecord_fast.base.handlers").attr("raised_by_handler")(error).cast<bool>();
}

PyObject* NextElement(PyObject* self) {
  auto& iteration = Unbox<Iteration>(self);
  if (!iteration.elements || iteration.left == 0) return nullptr;
  const py::object elements = iteration.elements;  // another thread may end the iteration meanwhile
  const bool counts = iteration.left > 0;
  if (counts) --iteration.left;
  PyObject* const element = Py_TYPE(elements.ptr())->tp_iternext(elements.ptr());
  if (element != nullptr) return element;
  if (counts) ++iteration.left;
  if (PyErr_Occurred() == nullptr || PyErr_ExceptionMatches(PyExc_StopIteration)) return nullptr;
  py::error_already_set error;
  PyException_SetTraceback(error.value().ptr(), error.trace() ? error.trace().ptr() : Py_None);
  if (RaisedByHandler(error.value())) iteration.elements = py::object();
  error.restore();
  return nullptr;
}

int Traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(Unbox<Iteration>(self).elements.ptr());
  return 0;
}

int Clear(PyObject* self) {
  Unbox<Iteration>(self).elements = py::object();
  return 0;
}

}  // namespace

void BindIteration(py::module_& m) {
  PyTypeObject* type = MakeType("tfrecord_fast._core.Iteration", sizeof(Boxed<Iteration>),
                                {{Py_tp_new, Slot(Guarded<New>)},
                                 {Py_tp_dealloc, Slot(Dealloc<Iteration>)},
                                 {Py_tp_traverse, Slot(Traverse)},
                                 {Py_tp_clear, Slot(Clear)},
                                 {Py_tp_iter, Slot(PyObject_SelfIter)},
                                 {Py_tp_iternext, Slot(Guarded<NextElement>)}},
                                "The first elements of an iterator, or all; none after an exception that a signal\n"
                                "handler has raised.",
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC);
  m.attr("Iteration") = py::handle(reinterpret_cast<PyObject*>(type));
}

}  // namespace tfr

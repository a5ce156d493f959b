"""TensorFlow 1's names of `tf.io.gfile`."""

from .files.system.file_system import GFile
from .files.system.file_system import copy as Copy
from .files.system.file_system import exists as Exists
from .files.system.file_system import glob as Glob
from .files.system.file_system import isdir as IsDirectory
from .files.system.file_system import listdir as ListDirectory
from .files.system.file_system import makedirs as MakeDirs
from .files.system.file_system import mkdir as MkDir
from .files.system.file_system import remove as Remove
from .files.system.file_system import rename as Rename
from .files.system.file_system import rmtree as DeleteRecursively
from .files.system.file_system import stat as Stat
from .files.system.file_system import walk as Walk

FastGFile = Open = GFile

__all__ = [
    "Copy",
    "DeleteRecursively",
    "Exists",
    "FastGFile",
    "GFile",
    "Glob",
    "IsDirectory",
    "ListDirectory",
    "MakeDirs",
    "MkDir",
    "Open",
    "Remove",
    "Rename",
    "Stat",
    "Walk",
]

"""What all trials share, once in a file without a name that every worker maps."""

import mmap
import pickle
import tempfile
from typing import IO, Any

try:  # newer releases of joblib bring it along
    import cloudpickle
except ImportError:
    from joblib.externals import cloudpickle

ALIGNED = 64  # bytes, as numpy's own arrays are at least

Spans = list[tuple[int, int]]  # where a part begins, and its length


def pack(content: Any) -> tuple[IO[bytes], Spans]:
    """Write an object to a file, its arrays beside the rest; return the file and its parts.

    The file has no name: whatever ends the processes that hold it, nothing is left of it.

    Examples
    --------
    >>> import numpy as np
    >>> file, spans = pack({"X": np.arange(3.0)})
    >>> unpack(file.fileno(), spans)
    {'X': array([0., 1., 2.])}
    >>> file.close()
    """
    buffers: list[pickle.PickleBuffer] = []
    skeleton = dumps(content, buffers.append)
    file = tempfile.TemporaryFile(prefix="leavezero-")  # noqa: SIM115 - whoever asked closes it
    spans: Spans = []
    try:
        for part in (memoryview(skeleton), *(buffer.raw() for buffer in buffers)):
            start = -(-file.tell() // ALIGNED) * ALIGNED
            file.seek(start)
            file.write(part)
            spans.append((start, part.nbytes))
        file.flush()
    except OSError as error:
        file.close()
        raise OSError(
            error.errno,
            f"{tempfile.gettempdir()!r} has no room for the data, which workers read from there: "
            f"{error.strerror}. Set TMPDIR to another folder.",
        ) from error
    return file, spans


def unpack(descriptor: int, spans: Spans) -> Any:
    """Return the object of a file; whoever writes to its arrays writes to a copy of their own."""
    whole = memoryview(mmap.mmap(descriptor, 0, access=mmap.ACCESS_COPY))
    skeleton, *buffers = (whole[start : start + size] for start, size in spans)
    return pickle.loads(skeleton, buffers=buffers)


def dumps(content: Any, buffer_callback: Any = None) -> bytes:
    """Return an object as bytes; what is defined in a script, or has no name, by its content."""
    return cloudpickle.dumps(content, pickle.HIGHEST_PROTOCOL, buffer_callback=buffer_callback)

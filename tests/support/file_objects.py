"""File objects that do no more than they have to."""

import io


class OnlyRead:
    """A file object with the least there can be; gives at most `most` bytes a call."""

    def __init__(self, data, most=None):
        self.file = io.BytesIO(data)
        self.most = most

    def read(self, size=-1):
        return self.file.read(size if self.most is None else min(size, self.most))

"""File objects that do only what they have to."""

import io


class OnlyRead:
    """The smallest possible file object; gives at most `most` bytes per call."""

    def __init__(self, data, most=None):
        self.file = io.BytesIO(data)
        self.most = most

    def read(self, size=-1):
        return self.file.read(size if self.most is None else min(size, self.most))

"""Images: JPEG, PNG, GIF and BMP to arrays and back, with TensorFlow's values. GIF and BMP need the extra `image`.

| module | for |
| --- | --- |
| `decoding`, `encoding` | files to arrays, arrays to files |
| `gif`, `bmp` | files that Pillow decodes differently from TensorFlow |
| `conversion` | images in another dtype |
| `headers` | format and size of an image from its first bytes |
| `libraries` | Pillow and its errors |
"""

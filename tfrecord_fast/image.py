"""`tf.image`: the image functions of `tf.io`, and conversion to other dtypes."""

from .images.conversion import convert_image_dtype
from .images.decoding import decode_bmp, decode_gif, decode_image, decode_jpeg, decode_png, is_jpeg
from .images.encoding import encode_jpeg, encode_png

__all__ = [
    "convert_image_dtype",
    "decode_bmp",
    "decode_gif",
    "decode_image",
    "decode_jpeg",
    "decode_png",
    "encode_jpeg",
    "encode_png",
    "is_jpeg",
]

// JPEGs by libjpeg-turbo; see encode.h.

#include <algorithm>
#include <string>

#include "images/encode.h"
#include "images/error_trap.h"
#include "images/libjpeg.h"

namespace tfr {
namespace {

constexpr size_t kFirstBytes = 16384;
constexpr std::string_view kXmpStart("http://ns.adobe.com/xap/1.0/\0", 29);
constexpr size_t kMostMarkerBytes = 65533;

struct Destination {
  jpeg_destination_mgr manager;  // first, for casts
  std::vector<uint8_t>* out = nullptr;
};

Destination& DestinationOf(j_compress_ptr info) { return *reinterpret_cast<Destination*>(info->dest); }

// Makes room after the first `used` bytes; false if out of memory.
bool Extend(Destination& destination, size_t used) {
  try {
    destination.out->resize(std::max(kFirstBytes, 2 * used));
  } catch (const std::bad_alloc&) {
    return false;
  }
  destination.manager.next_output_byte = destination.out->data() + used;
  destination.manager.free_in_buffer = destination.out->size() - used;
  return true;
}

boolean Extend(j_compress_ptr info) {
  Destination& destination = DestinationOf(info);
  if (!Extend(destination, destination.out->size())) static_cast<ErrorTrap*>(info->client_data)->Fail("out of memory");
  return TRUE;
}

void Begin(j_compress_ptr) {}

void Finish(j_compress_ptr info) {
  Destination& destination = DestinationOf(info);
  destination.out->resize(destination.out->size() - destination.manager.free_in_buffer);  // smaller
}

struct Compression {
  ErrorTrap trap;
  jpeg_error_mgr errors;
  Destination destination;
  jpeg_compress_struct info;
  bool created = false;

  ~Compression() {
    if (created) jpeg_destroy_compress(&info);
  }

  void Start(const Picture& picture, const JpegOptions& options, const std::string& xmp) {
    SetTrap(&info, &errors, &trap);
    jpeg_create_compress(&info);
    created = true;
    info.dest = &destination.manager;
    info.image_width = static_cast<JDIMENSION>(picture.width);
    info.image_height = static_cast<JDIMENSION>(picture.height);
    info.input_components = static_cast<int>(picture.channels);
    info.in_color_space = picture.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    info.optimize_coding = options.optimize ? TRUE : FALSE;
    info.density_unit = options.density_per_cm ? 2 : 1;
    info.X_density = options.x_density;
    info.Y_density = options.y_density;
    jpeg_set_quality(&info, options.quality, TRUE);
    if (options.progressive) jpeg_simple_progression(&info);
    for (int i = 0; !options.chroma_downsampling && i < info.num_components; ++i) {
      info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
    }
    jpeg_start_compress(&info, TRUE);
    if (!xmp.empty()) {
      jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(xmp.data()),
                        static_cast<unsigned>(xmp.size()));
    }
  }

  void Write(const Picture& picture) {
    for (size_t y = 0; y < picture.height; ++y) {
      JSAMPROW row = const_cast<uint8_t*>(picture.data) + static_cast<ptrdiff_t>(y) * picture.stride;
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
  }
};

}  // namespace

Status EncodeJpeg(const Picture& picture, const JpegOptions& options, std::vector<uint8_t>* out) {
  if ((picture.channels != 1 && picture.channels != 3) || picture.sixteen_bits) {
    return Status::InvalidArgument("a JPEG has 1 or 3 channels of uint8");
  }
  if (picture.height > JPEG_MAX_DIMENSION || picture.width > JPEG_MAX_DIMENSION) {
    return Status::InvalidArgument("a JPEG has at most " + std::to_string(JPEG_MAX_DIMENSION) + " rows and columns");
  }
  if (options.xmp.size() > kMostMarkerBytes - kXmpStart.size()) {
    return Status::InvalidArgument("XMP metadata of a JPEG has at most " +
                                   std::to_string(kMostMarkerBytes - kXmpStart.size()) + " bytes, got " +
                                   std::to_string(options.xmp.size()));
  }
  return WithoutThrowing([&] {
    const std::string xmp = options.xmp.empty() ? "" : std::string(kXmpStart) + std::string(options.xmp);
    Compression compression;
    compression.destination.manager = {nullptr, 0, Begin, Extend, Finish};
    compression.destination.out = out;
    if (!Extend(compression.destination, 0)) return Status::OutOfMemory();
    if (!compression.trap.Run([&] { compression.Start(picture, options, xmp); }) ||
        !compression.trap.Run([&] { compression.Write(picture); })) {
      return Status::InvalidArgument(std::string("the image can't be encoded as JPEG: ") + compression.trap.message());
    }
    return Status();
  });
}

}  // namespace tfr

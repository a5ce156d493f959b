"""Mistakes in csrc/codec and csrc/framing: wake-ups, ends of parts and of buffers, what is damage, what is flushed."""

from tests.mutation.native import Mutant

BLOCKS = "core/test_block_compression"
PARTS = "core/test_marked_parts"
READER = "core/test_reader"
DAMAGE = "faults/test_damage"

MUTANTS = [
    # ---- codec ----
    Mutant(
        "codec/block_pool.cc",
        "    work_.notify_one();\n    const size_t most",
        "    const size_t most",
        "waking a thread for a block",
        BLOCKS,
    ),
    Mutant(
        "codec/block_pool.cc",
        "if (++pending_ > 1) StartThreads(&lock);",
        "if (++pending_ > 100000) StartThreads(&lock);",
        "threads start with the second block",
        BLOCKS,
    ),
    Mutant(
        "codec/block_pool.cc",
        "if (!output.failed.ok()) return output.failed;",
        "",
        "a sink that has failed",
        BLOCKS,
    ),
    Mutant("codec/block_pool.cc", "    if (output->writing) return;\n", "", "one thread writes at a time", BLOCKS),
    Mutant(
        "codec/block_pool.cc",
        "      --pending_;\n      done_.notify_all();\n",
        "      --pending_;\n",
        "waking who waits for a place",
        BLOCKS,
    ),
    Mutant(
        "codec/block_pool.cc",
        "return !output.writing; });",
        "return true; });",
        "a flush waits for the block that is being written",
        BLOCKS,
    ),
    Mutant(
        "codec/block_pool.cc",
        "      stop_ = true;\n    }\n    work_.notify_all();",
        "      stop_ = true;\n    }",
        "threads end with the writer",
        BLOCKS,
    ),
    Mutant(
        "codec/block_sink.cc",
        "if (total > kMaxBlockBytes) return WriteUnmarked(parts, count);",
        "",
        "a record over 1 GiB: not in the suite",
        BLOCKS,
    ),
    Mutant(
        "codec/block_sink.cc",
        "return used_ >= kBlockBytes ? EndBlock() : Status();",
        "return Status();",
        "blocks that end by themselves",
        BLOCKS,
    ),
    Mutant(
        "codec/block_sink.cc",
        "    TFR_RETURN_IF_ERROR(EndBlock());\n    TFR_RETURN_IF_ERROR(pool_->Drain(output_));",
        "    TFR_RETURN_IF_ERROR(pool_->Drain(output_));",
        "flush ends the block",
        BLOCKS,
    ),
    Mutant(
        "codec/block_sink.cc",
        "    if (!any_ && used_ == 0) {",
        "    if (false) {",
        "a file without records is one empty part",
        BLOCKS,
    ),
    Mutant(
        "codec/streams.cc",
        "if (*got > 0) return {};",
        "",
        "what is there goes out before the next read",
        "core/test_codec",
    ),
    Mutant("codec/streams.cc", "if (between_parts_) return {};", "return {};", "a compressed file that is cut", DAMAGE),
    Mutant(
        "codec/streams.cc", "return got > 0 ? Status() : late_;", "return late_;", "records before the damage", DAMAGE
    ),
    Mutant(
        "codec/streams.cc",
        "      rest.size -= progress.consumed;\n",
        "",
        "what the compressor has not taken",
        "core/test_codec",
    ),
    Mutant(
        "codec/streams.cc",
        "if (used_ == output_.size()) TFR_RETURN_IF_ERROR(Drain());",
        "",
        "a full output buffer",
        "core/test_codec",
    ),
    Mutant(
        "codec/gzip.cc",
        "return sizes->compressed > kMarked + kTrailer && sizes->uncompressed <= kMaxBlockBytes;",
        "return sizes->uncompressed <= kMaxBlockBytes;",
        "a part that is shorter than its frame",
        PARTS,
    ),
    Mutant(
        "codec/gzip.cc",
        "StoreLE32(out + kMarked - 4, static_cast<uint32_t>(block.size));",
        "StoreLE32(out + kMarked - 4, static_cast<uint32_t>(*size));",
        "the mark's second size",
        BLOCKS,
    ),
    Mutant(
        "codec/gzip.cc",
        "StoreLE32(out + header + deflated, internal::GzipCrc(block));",
        "StoreLE32(out + header + deflated, 0);",
        "the checksum of a part",
        BLOCKS,
    ),
    Mutant(
        "codec/snappy.cc",
        'if (length_ == 0) return Status::DataLoss("a block of no bytes");',
        "",
        "a block of no bytes",
        "core/test_snappy",
    ),
    Mutant(
        "codec/snappy.cc",
        "    given_ = 0;\n    head_bytes_ = 0;",
        "    head_bytes_ = 0;",
        "a block that did not fit",
        "core/test_snappy",
    ),
    Mutant(
        "codec/snappy.cc",
        "offset == 0 || offset > made_) return false;",
        "offset == 0) return false;",
        "a copy from before the start",
        "core/test_snappy",
    ),
    Mutant(
        "codec/snappy.cc",
        "if (length > claim_ - made_ || length > end_ - at_ ||",
        "if (length > end_ - at_ ||",
        "a literal longer than the claim",
        "core/test_snappy",
    ),
    Mutant(
        "codec/snappy.cc",
        "std::min(length_, std::max(2 * taken_, taken_ + size))",
        "length_",
        "memory for a mere claim",
        "core/test_snappy",
    ),
    # ---- framing ----
    Mutant("framing/reader.cc", "if (begin_ < end_) Drop(1);", "", "going past the damaged byte", DAMAGE),
    Mutant(
        "framing/reader.cc",
        "    if (left > 0) std::memcpy(fresh->data(), buffer_->data() + begin_, left);\n",
        "",
        "what a new buffer takes over",
        READER,
    ),
    Mutant(
        "framing/reader.cc",
        "if (buffer_ && !shared_ && buffer_->capacity() >= capacity) {",
        "if (buffer_ && buffer_->capacity() >= capacity) {",
        "bytes that are in use elsewhere",
        READER,
    ),
    Mutant(
        "framing/reader.cc",
        "    if (now < room) break;\n",
        "",
        "a slow pipe's records come through",
        "core/test_inputs",
    ),
    Mutant(
        "framing/reader.cc",
        "((remainder - first_index) % divisor + divisor) % divisor;",
        "(divisor - remainder) % divisor;",
        "every n-th record of a chunk",
        "files/test_shard_reader",
    ),
    Mutant(
        "framing/reader.cc",
        "      indices.push_back(place.index);\n",
        "",
        "the numbers of records after damage",
        "files/test_shard_reader",
    ),
    Mutant(
        "framing/reader.cc",
        "left == 0 ? Status() : Truncated(",
        "left < kHeaderBytes ? Status() : Truncated(",
        "a few bytes at the end",
        DAMAGE,
    ),
    Mutant(
        "framing/scan.cc",
        "if (static_cast<size_t>(end - next) < kFrameBytes + length) break;",
        "if (static_cast<size_t>(end - next) < kHeaderBytes + length) break;",
        "a footer that is still to come",
        READER,
    ),
    Mutant(
        "framing/search.cc", "    ++from;\n", "    from += kHeaderBytes;\n", "going on after a header by chance", DAMAGE
    ),
    Mutant(
        "framing/writer.cc",
        "if (buffer_.size() - used_ < record.size + kFrameBytes) TFR_RETURN_IF_ERROR(Drain());",
        "if (buffer_.size() - used_ < record.size) TFR_RETURN_IF_ERROR(Drain());",
        "room for a frame",
        "core/test_writer",
    ),
    Mutant(
        "framing/writer.cc",
        "if (!failed_.ok()) return failed_;\n  for",
        "for",
        "a writer that has failed",
        "faults/test_io_errors",
    ),
    Mutant(
        "framing/writer.cc",
        "  Status status = failed_.ok() ? Drain() : failed_;\n",
        "  Status status = failed_;\n",
        "close writes what is held",
        "core/test_writer",
    ),
    Mutant(
        "framing/open.cc",
        "peeked.needed <= kDetectBytes) verdict.needed",
        "peeked.needed <= 64) verdict.needed",
        "how much of a SNAPPY file is looked at",
        "core/test_snappy",
    ),
    Mutant("framing/open.cc", "      if (got < more) break;\n", "", "a file that is shorter than a header", READER),
]

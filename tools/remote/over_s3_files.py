"""Which tests of reading local files are run over S3, and which of these are left out, by the reason and the file."""

from __future__ import annotations

__all__ = ["FILES", "LEFT_OUT"]

FILES = [
    "tests/core/test_codec.py",
    "tests/core/test_corrupt_modes.py",
    "tests/core/test_damaged_parts.py",
    "tests/core/test_inputs.py",
    "tests/core/test_marked_parts.py",
    "tests/core/test_reader.py",
    "tests/core/test_real_files.py",
    "tests/core/test_record_batch.py",
    "tests/core/test_regions.py",
    "tests/core/test_search.py",
    "tests/core/test_snappy.py",
    "tests/core/test_stream_edges.py",
    "tests/faults/test_damage.py",
    "tests/faults/test_errors.py",
    "tests/data/test_dataset.py",
    "tests/data/test_interleaving.py",
    "tests/data/test_names_as_needed.py",
    "tests/data/test_plan.py",
    "tests/data/test_semantics.py",
    "tests/data/test_shared_iterators.py",
    "tests/data/test_sharing.py",
    "tests/data/test_tables.py",
    "tests/data/test_tf_record_iterator.py",
    "tests/examples/test_groups.py",
    "tests/examples/test_infer.py",
    "tests/examples/test_row_errors.py",
    "tests/files/test_global_shuffle.py",
    "tests/files/test_index.py",
    "tests/files/test_indexed_reader.py",
    "tests/files/test_indexed_reader_arguments.py",
    "tests/files/test_indexed_reader_features.py",
    "tests/files/test_indexed_reader_life.py",
    "tests/files/test_tables.py",
    "tests/files/test_tables_columns.py",
    "tests/files/test_batches_kept.py",
    "tests/files/test_groups_reader.py",
    "tests/files/test_max_record_bytes.py",
    "tests/files/test_shard_columns.py",
    "tests/files/test_shard_large_batches.py",
    "tests/files/test_shard_life.py",
    "tests/files/test_shard_order.py",
    "tests/files/test_shard_reader.py",
    "tests/files/test_shard_epochs.py",
    "tests/files/test_shard_lengths.py",
    "tests/files/test_shard_state.py",
    "tests/files/test_state_and_damage.py",
]

LEFT_OUT: dict[str, dict[str, list[str]]] = {
    "another process reads it, by its path": {
        "tests/files/test_shard_order.py": ["test_a_new_process_continues_where_this_one_stopped"],
        "tests/files/test_shard_epochs.py": [
            "test_workers_count_the_epochs_of_their_reader",
            "test_workers_take_the_epoch_that_was_chosen",
            "test_the_same_torch_seed_in_each_epoch_gives_other_orders_nevertheless",
            "test_a_state_is_resumed_in_a_worker_once",
            "test_what_a_worker_makes_begins_with_epoch_0",
            "test_without_a_board_epochs_come_from_torchs_seed",
        ],
        "tests/files/test_shard_life.py": [
            "test_the_interpreter_ends_with_readers_alive",
            "test_a_data_loader_sees_every_record_once",
        ],
        "tests/files/test_global_shuffle.py": [
            "test_the_interpreter_ends_with_a_reader_alive",
            "test_memory_does_not_grow_with_the_records",
        ],
        "tests/core/test_regions.py": ["test_an_iterator_that_is_dropped_half_way_stops_its_threads"],
        "tests/core/test_search.py": ["test_a_signal_stops_a_search"],
    },
    "stores have no pipes, folders, links and names that are not text": {
        "tests/files/test_index.py": [
            "test_pipe_cannot_be_indexed",
            "test_saving_in_a_missing_folder_names_the_path",
            "test_saving_writes_through_a_link",
        ],
        "tests/files/test_shard_lengths.py": ["test_what_can_be_read_once_is_not_counted"],
        "tests/files/test_tables.py": ["test_a_pipe_is_read_once"],
        "tests/core/test_inputs.py": [
            "test_a_pipe_is_read",
        ],
        "tests/core/test_reader.py": ["test_a_file_name_that_is_not_text_is_named"],
    },
    "an object that changes while it is read is refused (test_fetching.py)": {
        "tests/files/test_indexed_reader.py": [
            "test_records_appended_later_are_not_seen",
            "test_a_file_that_grew_is_read_where_the_index_says",
        ],
    },
    "an object's records are counted once by a reader, and no count is kept beside it": {
        "tests/files/test_shard_lengths.py": [
            "test_a_file_that_grows_is_counted_again",
            "test_a_file_whose_time_was_set_back_is_counted_again",
            "test_counts_of_large_files_are_kept_in_the_users_cache",
            "test_counts_are_kept_where_told",
            "test_a_count_that_does_not_fit_is_not_believed",
        ],
    },
    "measures the time of a search in a local file": {
        "tests/core/test_search.py": [
            "test_forged_headers_are_searched_in_linear_time",
            "test_damage_after_every_record_is_read_in_linear_time",
        ],
    },
    "reads local files only": {
        "tests/data/test_tf_record_iterator.py": [
            "test_a_random_reader_gives_a_record_and_where_the_next_one_begins",
            "test_a_random_reader_finds_no_record_after_the_end",
            "test_a_random_reader_finds_no_record_inside_one",
            "test_a_closed_random_reader_says_so",
        ],
    },
    "limits how large a local file may become": {
        "tests/core/test_stream_edges.py": ["test_a_failed_save_of_an_index_leaves_no_draft"],
    },
    "counts threads or descriptors, and those that stores share stay for a while": {
        "tests/files/test_shard_reader.py": ["test_dropped_half_way_leaves_no_thread"],
        "tests/files/test_shard_large_batches.py": ["test_dropping_a_reader_amid_large_batches_ends_its_threads"],
        "tests/files/test_shard_life.py": [
            "test_a_reader_dropped_half_way_ends_its_threads",
            "test_an_exception_in_the_consumer_ends_the_threads",
            "test_ctrl_c_comes_through",
            "test_an_error_ends_the_threads",
        ],
        "tests/files/test_global_shuffle.py": ["test_a_reader_that_is_dropped_ends_its_threads"],
        "tests/files/test_indexed_reader_life.py": [
            "test_calls_share_their_threads",
            "test_threads_end_by_themselves",
            "test_take_keeps_at_most_128_files_open",
            "test_records_taken_one_by_one_keep_at_most_128_files_open",
            "test_a_reader_that_is_dropped_closes_its_files",
        ],
    },
    "says a path in a repr, where it is a URL": {
        "tests/files/test_shard_lengths.py": ["test_a_reader_says_what_it_will_do"],
    },
}

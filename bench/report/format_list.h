/* The formats, one line each. A new one is a line here, and a file with the sink: help, messages,
 * completion and the files stored beside a result use this list. Text and Markdown of a plan and of
 * a matrix have sinks of their own, under the same names.
 */
#ifndef LB_FORMAT_LIST_H
#define LB_FORMAT_LIST_H

#define LB_FORMAT_LIST(FORMAT)                                                                     \
    FORMAT(lb_sink_text)                                                                           \
    FORMAT(lb_sink_plan)                                                                           \
    FORMAT(lb_sink_json)                                                                           \
    FORMAT(lb_sink_jsonl)                                                                          \
    FORMAT(lb_sink_csv)                                                                            \
    FORMAT(lb_sink_tap)                                                                            \
    FORMAT(lb_sink_junit)                                                                          \
    FORMAT(lb_sink_markdown)                                                                       \
    FORMAT(lb_matrix_markdown)                                                                     \
    FORMAT(lb_matrix_json)

#endif

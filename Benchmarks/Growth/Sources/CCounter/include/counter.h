/// Makes callgrind count from zero.
void counter_begin(void);
/// Makes callgrind write the count into a new file, with `name` as its label.
void counter_end(const char *name);

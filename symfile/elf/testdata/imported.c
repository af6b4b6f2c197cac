/* Linked by the tests: functions that another file imports. */
int first(int x) { return x; }
int second(int x) { return x + 1; }
int third(int x) { return x + 2; }

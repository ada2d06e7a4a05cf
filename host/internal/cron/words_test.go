package cron_test

import "testing"

func TestWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"* * * * *":           "Every minute",
		"*/5 * * * *":         "Every 5 minutes",
		"0,30 * * * *":        "Every 30 minutes",
		"0 * * * *":           "Every hour",
		"7 * * * *":           "Every hour at minute 7",
		"15 */6 * * *":        "Every 6 hours from 00:15",
		"*/10 9-17 * * 1-5":   "Every 10 minutes from 09:00 to 17:59 on weekdays",
		"0 9 * * *":           "Every day at 09:00",
		"30 8,18 * * sat,sun": "At 08:30 and 18:30 on weekends",
		"0 9 * * mon":         "At 09:00 on Monday",
		"0 9 * * mon,wed,7":   "At 09:00 on Sunday, Monday and Wednesday",
		"0 9 1 * *":           "At 09:00 on day 1 of the month",
		"0 9 1,15 * *":        "At 09:00 on the days 1 and 15 of the month",
		"0 0 13 * fri":        "At 00:00 on day 13 of the month and on Friday",
		"0 9 24 12 *":         "At 09:00 on day 24 of the month in December",
		"0 9 * 7,8 *":         "At 09:00 in July and August",
		"* * * 2 *":           "Every minute in February",
		"*/7 * * * *":         "By the line */7 * * * *",
		"0 0 */2 * MON":       "By the line 0 0 */2 * 1",
		"1-40 3 * jan *":      "By the line 1-40 3 * 1 *",
	} {
		if got := parsed(t, line).Words(); got != want {
			t.Errorf("%q is %q, want %q", line, got, want)
		}
	}
}

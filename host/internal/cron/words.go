package cron

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// maxTimes bounds how many times of a day are listed.
const maxTimes = 6

// Words says in English when a schedule comes due, such as "Every 5 minutes" or "At 09:00 on
// weekdays". What has no short form is said as the line itself.
func (s *Schedule) Words() string {
	times, days := s.times(), s.days()
	if times == "" || days == "" && s.restricted() {
		return "By the line " + strings.Join(s.plain[:], " ")
	}
	text := times
	switch {
	case days != "":
		text += " " + days
	case strings.HasPrefix(times, "at "):
		text = "every day " + times
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// every reports whether a field matches all of its values.
func (s *Schedule) every(at int) bool { return s.fields[at] == fields[at].all() }

// restricted reports whether some days do not match.
func (s *Schedule) restricted() bool {
	return !s.every(monthDay) || !s.every(month) || !s.every(weekDay)
}

// step is the n of a field that matches every n-th value from the first one, evenly, or 0.
func (s *Schedule) step(at int) int {
	list := s.fields[at].list()
	if len(list) < 2 || list[0] != 0 {
		return 0
	}
	for i, n := range list {
		if n != i*list[1] {
			return 0
		}
	}
	if len(list)*list[1] != fields[at].top+1 {
		return 0
	}
	return list[1]
}

// times says when of a day it is due, or nothing.
func (s *Schedule) times() string {
	minutes, hours := s.fields[minute].list(), s.fields[hour].list()
	often := s.often(minutes)
	switch {
	case often != "" && s.every(hour):
		return often
	case often != "" && len(hours) == hours[len(hours)-1]-hours[0]+1:
		return fmt.Sprintf("%s from %02d:00 to %02d:59", often, hours[0], hours[len(hours)-1])
	case len(minutes) == 1 && s.every(hour):
		return fmt.Sprintf("every hour at minute %d", minutes[0])
	case len(minutes) == 1 && s.step(hour) > 0:
		return fmt.Sprintf("every %d hours from 00:%02d", s.step(hour), minutes[0])
	case len(minutes)*len(hours) > maxTimes:
		return ""
	}
	var all []string
	for _, h := range hours {
		for _, m := range minutes {
			all = append(all, fmt.Sprintf("%02d:%02d", h, m))
		}
	}
	return "at " + listed(all)
}

// often says how often in an hour it is due where that is at even distances, or nothing.
func (s *Schedule) often(minutes []int) string {
	switch step := s.step(minute); {
	case step == 1:
		return "every minute"
	case step > 1:
		return fmt.Sprintf("every %d minutes", step)
	case len(minutes) == 1 && minutes[0] == 0 && s.every(hour):
		return "every hour"
	}
	return ""
}

// days says on which days it is due; nothing is each, or what has no short form.
func (s *Schedule) days() string {
	text := ""
	switch of, on := !s.every(monthDay), !s.every(weekDay); {
	case of && on && (s.plain[monthDay][0] == '*' || s.plain[weekDay][0] == '*'):
		return ""
	case of && on:
		text = s.monthDays() + " and " + s.weekDays()
	case of:
		text = s.monthDays()
	case on:
		text = s.weekDays()
	}
	if s.every(month) {
		return text
	}
	var names []string
	for _, n := range s.fields[month].list() {
		names = append(names, time.Month(n).String())
	}
	return strings.TrimSpace(text + " in " + listed(names))
}

func (s *Schedule) monthDays() string {
	var all []string
	for _, n := range s.fields[monthDay].list() {
		all = append(all, strconv.Itoa(n))
	}
	if len(all) == 1 {
		return "on day " + all[0] + " of the month"
	}
	return "on the days " + listed(all) + " of the month"
}

// The days from Monday to Friday, and the others.
const (
	workDays values = 0b0111110
	freeDays values = 0b1000001
)

func (s *Schedule) weekDays() string {
	switch s.fields[weekDay] {
	case workDays:
		return "on weekdays"
	case freeDays:
		return "on weekends"
	}
	var names []string
	for _, n := range s.fields[weekDay].list() {
		names = append(names, time.Weekday(n).String())
	}
	return "on " + listed(names)
}

// listed joins a list with commas, and the last of it with "and".
func listed(list []string) string {
	last := len(list) - 1
	if last == 0 {
		return list[0]
	}
	return strings.Join(list[:last], ", ") + " and " + list[last]
}

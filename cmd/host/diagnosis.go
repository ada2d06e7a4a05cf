package main

// status is what a finding of doctor's means.
type status string

const (
	fine  status = "ok"
	note  status = "note"
	wrong status = "wrong"
)

// finding is one thing that doctor found.
type finding struct {
	Area   string `json:"area"`
	Status status `json:"status"`
	Text   string `json:"text"`
}

// diagnosis is all that doctor found.
type diagnosis struct {
	OK       bool      `json:"ok"`
	Build    build     `json:"build"`
	Findings []finding `json:"findings"`
}

func (d *diagnosis) add(area string, s status, text string) {
	d.Findings = append(d.Findings, finding{area, s, text})
	d.OK = d.OK && s != wrong
}

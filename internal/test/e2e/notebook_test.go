package e2e

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// smallNotebook has one cell, without an id.
const smallNotebook = `{
 "cells": [
  {
   "cell_type": "markdown",
   "metadata": {},
   "source": [
    "# A plot"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "metadata": {},
   "outputs": [],
   "source": [
    "plot(1)"
   ]
  }
 ],
 "metadata": {},
 "nbformat": 4,
 "nbformat_minor": 4
}
`

func cell(path, id, source string) input {
	return input{"notebook_path": path, "cell_id": id, "new_source": source}
}

// notebook is what of one the tests look at.
type notebook struct {
	Cells []struct {
		Type    string          `json:"cell_type"`
		ID      string          `json:"id"`
		Count   json.RawMessage `json:"execution_count"`
		Outputs []any           `json:"outputs"`
		Source  []string        `json:"source"`
	}
}

// notebook reads a notebook as a program does.
func (d *desk) notebook(name string) (n notebook) {
	d.Helper()
	text, err := os.ReadFile(d.path(name))
	if err == nil {
		err = json.Unmarshal(text, &n)
	}
	if err != nil {
		d.Fatal(err)
	}
	return n
}

// TestNotebookEdit replaces, inserts and deletes cells of a real notebook, after Read
// has shown it.
func TestNotebookEdit(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "builtin", "docs", "testdata", "harbour.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, map[string]string{"harbour.ipynb": string(text)})
	const name = "harbour.ipynb"
	d.fails(2, "NotebookEdit", cell(name, "nobody", "x"), "was not read")
	if said := d.does("Read", file(name)); !strings.Contains(said, "id cell-1") {
		t.Errorf("Read says %.300q", said)
	}
	d.fails(5, "NotebookEdit", cell(name, "nobody", "x"), "nobody")
	d.fails(0, "Edit", edit(name, "import", "x"), "NotebookEdit")
	d.fails(1, "NotebookEdit", cell("missing.ipynb", "a", "x"), "does not exist")
	before := d.notebook(name)

	said := d.does("NotebookEdit", cell(name, "cell-1", "frame = None\nframe"))
	if !strings.HasPrefix(said, "Replaced cell cell-1 of harbour.ipynb, which has 8 cells now\n--- harbour.ipynb\n") || !strings.Contains(said, "\n+    \"frame = None\\n\",\n") {
		t.Errorf("replacing says %.300q", said)
	}
	n := d.notebook(name)
	if c := n.Cells[1]; strings.Join(c.Source, "") != "frame = None\nframe" || len(c.Outputs) > 0 || string(c.Count) != "null" {
		t.Errorf("replaced: %+v", c)
	}
	if c := n.Cells[2]; len(c.Outputs) != len(before.Cells[2].Outputs) || string(c.Count) != "2" {
		t.Errorf("the next one: %+v", c)
	}

	insert := cell(name, "cell-1", "## Depths")
	insert["edit_mode"], insert["cell_type"] = "insert", "markdown"
	d.does("NotebookEdit", insert)
	n = d.notebook(name)
	if c := n.Cells[2]; len(n.Cells) != 9 || c.Type != "markdown" || c.ID == "" || c.ID == "cell-2" || strings.Join(c.Source, "") != "## Depths" {
		t.Fatalf("inserted: %+v", n.Cells)
	}
	remove := cell(name, n.Cells[2].ID, "")
	remove["edit_mode"] = "delete"
	d.does("NotebookEdit", remove)
	if n = d.notebook(name); len(n.Cells) != 8 || n.Cells[2].ID != "cell-2" {
		t.Errorf("deleted: %+v", n.Cells)
	}
	d.put(name, string(text))
	d.fails(3, "NotebookEdit", cell(name, "nobody", "x"), "has changed since")
}

// TestNotebookWithoutIDs names cells by their places, as Read shows them.
func TestNotebookWithoutIDs(t *testing.T) {
	t.Parallel()
	d := newDesk(t, map[string]string{"plot.ipynb": smallNotebook})
	if said := d.does("Read", file("plot.ipynb")); !strings.Contains(said, "cell-0") || !strings.Contains(said, "cell-1") {
		t.Errorf("Read says %q", said)
	}
	d.does("NotebookEdit", cell("plot.ipynb", "cell-1", "plot(2)"))
	d.holds("plot.ipynb", strings.NewReplacer("plot(1)", "plot(2)", `"execution_count": 3`, `"execution_count": null`).Replace(smallNotebook))
}

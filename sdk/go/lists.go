package toolquay

import "github.com/toolquay/toolquay/sdk/go/wire"

// Lists are the session's lists of work: the todos of the agent that makes the call, which
// need the capability session.todo, and the tasks that the agents of the session or of its
// team share, which need session.task.
type Lists struct{ call *Call }

// Lists returns the capabilities on lists of work.
func (c *Call) Lists() Lists { return Lists{c} }

// Raw is one JSON value, such as one of a task's metadata.
type Raw = wire.Raw

// TodosChange is what became of a list of todos.
type TodosChange struct {
	TodosOK
	TodoLists
}

// Todos returns the agent's todos.
func (l Lists) Todos() ([]Todo, error) {
	c, err := todosChange(start[TodosOK](l.call, CapSessionTodo, &TodosArgs{Read: true}))
	return c.Todos, err
}

// SetTodos replaces the agent's todos. A list of which all items are completed is cleared.
func (l Lists) SetTodos(todos []Todo) (TodosChange, error) {
	list := []byte{'['}
	for i := range todos {
		if i > 0 {
			list = append(list, ',')
		}
		list = todos[i].AppendJSON(list)
	}
	part := wire.Part{Type: wire.PartJSON, Data: append(list, ']')}
	return todosChange(start[TodosOK](l.call, CapSessionTodo, &TodosArgs{}, part))
}

func todosChange(p *Pending[TodosOK]) (TodosChange, error) {
	a, err := p.Wait()
	if err != nil {
		return TodosChange{}, err
	}
	c := TodosChange{TodosOK: a.OK}
	data, err := a.Bytes()
	if err != nil {
		return c, err
	}
	d := wire.NewDecoder(data)
	c.TodoLists.DecodeJSON(d)
	return c, d.End()
}

// Create makes a task.
func (l Lists) Create(task WorkChange) (WorkOK, error) {
	return l.work(WorkArgs{Do: WorkCreate, Change: &task})
}

// Get shows a task. The answer has no Task where there is none of the id.
func (l Lists) Get(id string) (WorkOK, error) { return l.work(WorkArgs{Do: WorkGet, ID: id}) }

// Update changes a task. The answer has no Task where it was deleted.
func (l Lists) Update(id string, change WorkChange) (WorkOK, error) {
	return l.work(WorkArgs{Do: WorkUpdate, ID: id, Change: &change})
}

func (l Lists) work(args WorkArgs) (WorkOK, error) {
	a, err := start[WorkOK](l.call, CapSessionTask, &args).Wait()
	if err != nil {
		return WorkOK{}, err
	}
	return a.OK, a.Close()
}

// WorkListing is what a list of tasks holds.
type WorkListing struct {
	WorkOK
	// Tasks are in the order of their numbers, without descriptions and metadata.
	Tasks []WorkItem
}

// List lists the tasks.
func (l Lists) List() (WorkListing, error) {
	a, err := start[WorkOK](l.call, CapSessionTask, &WorkArgs{Do: WorkList}).Wait()
	if err != nil {
		return WorkListing{}, err
	}
	listing := WorkListing{WorkOK: a.OK}
	listing.Tasks, err = readList[WorkItem](a.Body)
	return listing, err
}

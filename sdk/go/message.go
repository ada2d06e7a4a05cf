package toolquay

// Tell tells the person something, attributed to the plugin. It needs the capability
// session.message, and fs.read for what is attached. After an error they are told nothing.
func (c *Call) Tell(args MessageArgs) (MessageOK, error) {
	a, err := start[MessageOK](c, CapSessionMessage, &args).Wait()
	if err != nil {
		return MessageOK{}, err
	}
	return a.OK, a.Close()
}

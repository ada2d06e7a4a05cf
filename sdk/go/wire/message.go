package wire

// DecodeCall reads the message that call receives, and the input in it.
func DecodeCall(b []byte) (head CallHead, input Raw, err error) {
	input, err = decodeInput(b, &head)
	if err == nil && head.Tool == "" {
		err = protocol("a call that names no tool")
	}
	return head, input, err
}

// DecodeAssess reads the message that assess receives, and the input in it.
func DecodeAssess(b []byte) (head AssessHead, input Raw, err error) {
	input, err = decodeInput(b, &head)
	if err == nil && head.Tool == "" {
		err = protocol("an assess that names no tool")
	}
	return head, input, err
}

func decodeInput(b []byte, head interface{ DecodeJSON(*Decoder) }) (Raw, error) {
	f, err := Decode(b)
	if err != nil {
		return nil, err
	}
	if err := Unmarshal(f.Head, head); err != nil {
		return nil, err
	}
	if len(f.Parts) == 0 || f.Parts[0].Type != PartJSON {
		return nil, protocol("a call without input: its first part must be JSON")
	}
	return Raw(f.Parts[0].Data), nil
}

// DecodeAnswerHead reads the head of an answer. A failure that the answer tells
// of comes back as the second result; a code of a later version becomes
// [CodeInternal].
func DecodeAnswerHead(b []byte) (ok Raw, failure *Error, err error) {
	var head AnswerHead
	if err := Unmarshal(b, &head); err != nil {
		return nil, nil, err
	}
	if string(head.OK) == "null" {
		head.OK = nil
	}
	switch {
	case (head.OK == nil) == (head.Error == nil):
		return nil, nil, protocol("an answer must hold ok or error, and only one of them")
	case head.OK != nil && head.OK[0] != '{':
		return nil, nil, protocol("an answer whose ok is no JSON object")
	}
	if head.Error != nil && !head.Error.Code.Known() {
		head.Error.Code = CodeInternal
	}
	return head.OK, head.Error, nil
}

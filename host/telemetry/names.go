package telemetry

import (
	"go.opentelemetry.io/otel/attribute"

	"github.com/toolquay/toolquay/abi"
)

// scope names this package to OpenTelemetry, as it asks.
const scope = "github.com/toolquay/toolquay/host/telemetry"

// Attributes of the semantic conventions.
const (
	keyOperation    = attribute.Key("gen_ai.operation.name")
	keyConversation = attribute.Key("gen_ai.conversation.id")
	keyAgent        = attribute.Key("gen_ai.agent.id")
	keyTool         = attribute.Key("gen_ai.tool.name")
	keyToolType     = attribute.Key("gen_ai.tool.type")
	keyCallID       = attribute.Key("gen_ai.tool.call.id")
	keyArguments    = attribute.Key("gen_ai.tool.call.arguments")
	keyResult       = attribute.Key("gen_ai.tool.call.result")
	keyMethod       = attribute.Key("mcp.method.name")
	keyErrorType    = attribute.Key("error.type")
)

// Attributes of our own.
const (
	keyTurn       = attribute.Key("toolquay.turn.id")
	keyDepth      = attribute.Key("toolquay.call.depth")
	keyParent     = attribute.Key("toolquay.call.parent")
	keyTeam       = attribute.Key("toolquay.team.id")
	keyChain      = attribute.Key("toolquay.chain.id")
	keyTitle      = attribute.Key("toolquay.call.title")
	keyServer     = attribute.Key("toolquay.mcp.server")
	keyServerTool = attribute.Key("toolquay.mcp.tool")
	keyOutcome    = attribute.Key("toolquay.outcome")
	keyLost       = attribute.Key("toolquay.incomplete")
	keyCapability = attribute.Key("toolquay.capability.name")
	keyVerdict    = attribute.Key("toolquay.decision.verdict")
	keyLayer      = attribute.Key("toolquay.decision.layer")
	keyHeadless   = attribute.Key("toolquay.decision.headless")
	keyHookEvent  = attribute.Key("toolquay.hook.event")
	keyHookTook   = attribute.Key("toolquay.hook.duration")
	keyChars      = attribute.Key("toolquay.stored.chars")
	keyBytes      = attribute.Key("toolquay.stored.bytes")
	keyLines      = attribute.Key("toolquay.progress.lines")
	keyOutput     = attribute.Key("toolquay.progress.bytes")
	keyDone       = attribute.Key("toolquay.progress.done")
	keyTotal      = attribute.Key("toolquay.progress.total")
	keyMessage    = attribute.Key("toolquay.progress.message")
	keyChange     = attribute.Key("toolquay.change.kind")
	keyEffects    = attribute.Key("toolquay.effects")
	keyQueued     = attribute.Key("toolquay.clock.queued")
	keyPerson     = attribute.Key("toolquay.clock.person")
	keyRunning    = attribute.Key("toolquay.clock.running")
	keyGuest      = attribute.Key("toolquay.clock.guest")
	keyCapTime    = attribute.Key("toolquay.clock.capability")
	keyReason     = attribute.Key("toolquay.reason")
)

// other stands for names that somebody made up, which would make a series of their
// own each.
const other = "_OTHER"

// The outcomes of calls.
const (
	outcomeOK        = "ok"
	outcomeError     = "error"
	outcomeDenied    = "denied"
	outcomeCancelled = "cancelled"
	outcomeDiscarded = "discarded"
)

// codeOf is the error.type of a result; empty where it is none. What a tool failed
// with by itself has no code.
func codeOf(r *abi.ToolResult) string {
	switch {
	case r == nil || !r.IsError:
		return ""
	case r.Error == nil:
		return "tool_error"
	case !r.Error.Code.Known():
		return other
	}
	return string(r.Error.Code)
}

// outcomeOf sorts error types into outcomes.
func outcomeOf(code string) string {
	switch abi.Code(code) {
	case "":
		return outcomeOK
	case abi.CodeDenied, abi.CodeNeedsApproval, abi.CodeNotGranted:
		return outcomeDenied
	case abi.CodeCancelled, abi.CodeInterrupted:
		return outcomeCancelled
	}
	return outcomeError
}

// errorCode is the error.type of an error; empty for none.
func errorCode(err error) string {
	if err == nil {
		return ""
	}
	if code := abi.CodeOf(err); code.Known() {
		return string(code)
	}
	return other
}

// capabilityName is a capability's name, unless the guest may have made it up.
func capabilityName(name, code string) string {
	switch abi.Code(code) {
	case abi.CodeUndeclared, abi.CodeUnsupported:
		return other
	}
	return name
}

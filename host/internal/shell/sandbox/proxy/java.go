package proxy

import "strings"

// JavaOptions is the variable by which every program in Java gets options. It says so on
// standard error, as with every other such variable.
const JavaOptions = "JAVA_TOOL_OPTIONS"

// PortMark stands in [JavaOptions] for the port of the proxy, which [Bridge] puts there.
const PortMark = "TOOLQUAY_PROXY_PORT"

// ForJava adds to options of Java's those that name the proxy.
func ForJava(options string) string {
	const host, port = ".proxyHost=127.0.0.1", ".proxyPort=" + PortMark
	return strings.TrimSpace(options + " -Dhttp" + host + " -Dhttp" + port + " -Dhttps" + host + " -Dhttps" + port)
}

import HTTPTypes

/// Streams of server-sent events, which end when the client disconnects (WHATWG HTML section 9.2).
package enum ServerSentEvents {
    package static let contentType = "text/event-stream"

    package static var headers: HTTPFields {
        var headers: HTTPFields = [.contentType: contentType, .cacheControl: "no-store"]
        // Some proxies buffer responses. This header turns that off.
        if let name = HTTPField.Name("X-Accel-Buffering") { headers[name] = "no" }
        return headers
    }
}

import Foundation
import HTTPSupport
import HTTPTypes
import Hummingbird
import Service
import Synchronization
import TestSupport
import Testing

/// A browser without JavaScript: it keeps cookies, and sends the form tokens of the pages that it has read.
final class Browser: Sendable {
    struct Page: Sendable {
        let status: Int
        let headers: HTTPFields
        let text: String

        /// The address that a redirection names.
        var location: String? { headers[.location] }

        /// The token of the page's first form.
        var formToken: String? {
            text.firstMatch(of: /name="form-token" value="([^"]+)"/).map { String($0.1) }
        }

        func has(_ part: String) -> Bool { text.contains(part) }
    }

    private let responder: RouterResponder<ServiceContext>
    private let jar = Mutex<[String: String]>([:])

    init(routes: ServiceRoutes) {
        responder = routes.router().buildResponder()
    }

    /// The cookies by name.
    var cookies: [String: String] {
        get { jar.withLock { $0 } }
        set { jar.withLock { $0 = newValue } }
    }

    func get(_ path: String, headers: HTTPFields = [:]) async throws -> Page {
        try await send(.get, path, body: nil, headers: headers)
    }

    /// Sends a form with a file and the token of the page that has it.
    func upload(_ path: String, _ name: String, _ bytes: [UInt8], from page: String) async throws -> Page {
        let token = try await get(page).formToken ?? ""
        var body = ByteBuffer()
        for (field, content) in [("form-token", Array(token.utf8)), (name, bytes)] {
            body.writeString("--b\r\nContent-Disposition: form-data; name=\"\(field)\"\r\n\r\n")
            body.writeBytes(content)
            body.writeString("\r\n")
        }
        body.writeString("--b--\r\n")
        return try await send(
            .post, path, body: body, headers: [.contentType: "multipart/form-data; boundary=b"])
    }

    /// Sends a form with the token of the page that has it.
    ///
    /// - Parameter page: The path of the page with the form; nil to send no token.
    func post(
        _ path: String,
        _ fields: [String: String],
        from page: String?,
        headers: HTTPFields = [:]
    ) async throws -> Page {
        var fields = fields
        if let page { fields["form-token"] = try await get(page).formToken }
        let allowed = CharacterSet.alphanumerics.intersection(CharacterSet(charactersIn: "\0"..."~"))
        let body = fields.map { name, value in
            "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")"
        }.joined(separator: "&")
        var headers = headers
        headers[.contentType] = "application/x-www-form-urlencoded"
        return try await send(.post, path, body: ByteBuffer(string: body), headers: headers)
    }

    private func send(
        _ method: HTTPRequest.Method, _ path: String, body: ByteBuffer?, headers: HTTPFields
    ) async throws -> Page {
        var headers = headers
        let cookies = cookies
        if !cookies.isEmpty { headers[.cookie] = cookies.map { "\($0)=\($1)" }.joined(separator: "; ") }
        let page = try await Application(responder: responder).test(.router) { [headers] client in
            try await client.execute(
                uri: path, method: method, headers: headers, body: body
            ) { response in
                Page(
                    status: response.status.code, headers: response.headers, text: String(buffer: response.body))
            }
        }
        for cookie in page.headers[values: .setCookie] {
            let pair = cookie.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { jar.withLock { $0[String(pair[0])] = String(pair[1]) } }
        }
        return page
    }
}

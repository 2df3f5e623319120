import HTTPSupport
import HTTPTypes
import Testing

@Suite struct RequestHeadTests {
    private static let marks = "a" + String(repeating: "\u{301}", count: 100)

    private func head(_ fields: [(String, String)], path: String = "/") throws -> HTTPRequest {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path)
        for (name, value) in fields {
            head.headerFields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        return head
    }

    @Test func `fields that nothing reads are removed, whatever they contain`() throws {
        let head = try head([
            ("Authorization", "Bearer x"), ("User-Agent", Self.marks), ("Accept", Self.marks), ("X-Custom", "1"),
            ("till-refusal", "targetTooLong"), ("If-None-Match", "\"a\""),
        ])
        let checked = try RequestHead.checked(head).get()
        #expect(checked.headerFields.map(\.name.canonicalName) == ["authorization", "if-none-match"])
    }

    @Test(
        arguments: [
            "Authorization", "Accept-Language", "Connection", "Content-Length", "Content-Type", "If-Match",
            "If-None-Match", "X-Forwarded-For", "Idempotency-Key", "idtoken", "Last-Event-ID", "Cookie", "Origin",
            "Sec-Fetch-Dest", "Sec-Fetch-Site",
        ])
    func `a non-ASCII field that the service reads is refused`(name: String) throws {
        #expect(RequestHead.checked(try head([(name, "x")])).isSuccess)
        #expect(RequestHead.checked(try head([(name, Self.marks)])) == .failure(.fieldNotASCII))
    }

    @Test func `a target that is too long or not ASCII is refused`() throws {
        let path = "/" + String(repeating: "x", count: RequestHead.maximumTargetLength - 1)
        #expect(RequestHead.checked(try head([], path: path)).isSuccess)
        #expect(RequestHead.checked(try head([], path: path + "x")) == .failure(.targetTooLong))
        #expect(RequestHead.checked(try head([], path: "/" + Self.marks)) == .failure(.targetNotASCII))
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}

import HTTPSupport
import HTTPTypes
import Testing

@Suite struct RequestHeadTests {
    private static let marks = "a" + String(repeating: "\u{301}", count: 100)

    private func head(_ fields: [(String, String)], host: String? = "localhost", path: String = "/") throws
        -> HTTPRequest
    {
        var head = HTTPRequest(method: .get, scheme: "http", authority: host, path: path)
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
            "Sec-Fetch-Dest", "Sec-Fetch-Site", "Till-Position",
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

    @Test(
        arguments: [
            "localhost", "shop.example", "SHOP.example.", "till_1-a.internal:8080", "127.0.0.1", "127.0.0.1:80",
            "[::1]",
            "[2001:db8::ffff:1.2.3.4]:65535", "shop.example:",
        ])
    func `a name and an address are hosts, with a port or without`(host: String) throws {
        #expect(RequestHead.checked(try head([], host: host)).isSuccess)
    }

    @Test(
        arguments: [
            "", " ", ":80", "a b", "a, b", "a,b", "a@b", "user:1@shop.example", "a/b", "shop.example/", "a?b", "a#b",
            "a\\b",
            "a\"b", "<a>", "a%00", "\t", "a:b", "a:1:2", "a:100000", "a:-1", "[::1", "::1", "[]", "[g::1]", "[::1]80",
            "[::1]:x",
            "[[::1]]", marks, "ｓhop.example",
        ])
    func `another host is refused`(host: String) throws {
        #expect(RequestHead.checked(try head([], host: host)) == .failure(.hostInvalid))
    }

    @Test(
        arguments: [
            ("shop.example", true), ("SHOP.Example.:8443", true), ("a.b.c.example", true), ("1.example", true),
            ("127.shop.xn--3e0b707e", true), ("localhost", false), ("LOCALHOST:8443", false), ("localhost.", false),
            ("till.localhost", false), ("till.local", false), ("till.test:443", false), ("a.till.internal", false),
            ("till", false), ("127.0.0.1", false), ("127.0.0.1:8443", false), ("127.1.", false), ("0x7f.0x1", false),
            ("[::1]", false), ("[::1]:8443", false), (".", false), (":80", false), ("", false),
        ])
    func `only a name of the public domain name system is one of a public host`(host: String, isPublic: Bool) {
        #expect(RequestHead.isPublicName(host) == isPublic)
    }

    @Test func `a request without a host is refused`() throws {
        #expect(RequestHead.checked(try head([], host: nil)) == .failure(.hostMissing))
    }

    @Test(arguments: ["Host", "HOST", "Authorization", "authorization"], ["x", "y"])
    func `a second host and a second credential are refused, the same or another`(name: String, value: String) throws {
        #expect(
            RequestHead.checked(try head([("Authorization", "x"), (name, value)])) == .failure(.fieldRepeated))
    }
}

extension Result {
    fileprivate var isSuccess: Bool {
        if case .success = self { true } else { false }
    }
}

import NIOCore
import TestSupport

/// One IPv6 /48 of an attacker behind a proxy, and the addresses of others.
enum OneNetwork {
    /// The option of `till serve` by which the proxy states the addresses.
    static let serviceOptions = ["--proxies", "1"]

    /// An address of the attacker. 256 of them in turn are each in a /56 of its own.
    static func address(_ number: Int) -> String {
        let part = number % 65_536
        return "2001:db8:1:\(String(part % 256 * 256 + part / 256, radix: 16))::1"
    }

    /// The address of another client, each in an IPv4 /24 of its own.
    static func other(_ number: Int) -> String { "198.51.\(number % 256).1" }

    /// A sign-up, or a log-in.
    static func credentials(_ path: String, of name: String, password: String, from client: String) -> ByteBuffer {
        .request(
            "POST", path, fields: ["X-Forwarded-For": client, "Connection": "close"],
            json: #"{"email":"\#(name)@example.com","password":"\#(password)"}"#)
    }

    static func signUp(_ name: String, from client: String) -> ByteBuffer {
        credentials("/v1/accounts", of: name, password: "correct horse", from: client)
    }

    static func logIn(_ name: String, password: String = "correct horse", from client: String) -> ByteBuffer {
        credentials("/v1/sessions", of: name, password: password, from: client)
    }

    /// Signs up users elsewhere, one after the other, each at a network of its own.
    ///
    /// - Throws: `LoopbackClient.UnexpectedAnswer` for a refused one.
    static func signUpOthers(_ count: Int, by client: LoopbackClient) async throws {
        for number in 0..<count {
            _ = try await client.answer(to: signUp("other\(number)", from: other(100 + number)), expecting: 201)
        }
    }
}

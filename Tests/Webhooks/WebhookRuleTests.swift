import Entitlements
import Features
import Foundation
import Ledger
import Proofs
import TestSupport
import Testing

/// The rules of webhooks: URLs, addresses, signatures and the backoff.
@Suite struct WebhookRuleTests {
    @Test(arguments: [
        ("https://example.com", "example.com", 443), ("https://example.com:8443/a?b=c", "example.com", 8443),
        ("HTTPS://Example.COM/", "Example.COM", 443), ("https://[2001:db8::1]/x", "2001:db8::1", 443),
        ("https://192.0.2.1", "192.0.2.1", 443),
    ])
    func `a valid URL is accepted`(_ text: String, host: String, port: Int) throws {
        let url = try WebhookURL(text, allowsPlain: false)
        #expect((url.text, url.host, url.port) == (text, host, port))
    }

    @Test(arguments: [
        "", "example.com", "ftp://example.com", "http://example.com", "https://", "https:///path", "https://a b.com",
        "https://user@example.com", "https://user:secret@example.com", "https://example.com/#part",
        "https://example.com:0", "https://example.com:65536", "https://%31%32%37.0.0.1/", "https://ex\u{E4}mple.com",
        "https://example.com/\n", "https://" + String(repeating: "a", count: 2048),
    ])
    func `an invalid URL is refused`(_ text: String) {
        #expect { try WebhookURL(text, allowsPlain: false) } throws: {
            ($0 as? WebhookError)?.code == "webhookURLInvalid"
        }
    }

    @Test func `plain HTTP is accepted if it is allowed`() throws {
        #expect(try WebhookURL("http://127.0.0.1:80/", allowsPlain: true).port == 80)
        #expect(try WebhookURL("http://localhost", allowsPlain: true).port == 80)
    }

    @Test(arguments: ["https://localhost", "https://A.LocalHost/x", "https://10.1.2.3", "https://[::1]:8443/"])
    func `a receiver in a private network needs the operator's permission`(_ text: String) throws {
        #expect(throws: WebhookError.addressPrivate) { try WebhookURL(receiver: text, allowsPrivate: false) }
        #expect(try WebhookURL(receiver: text, allowsPrivate: true).text == text)
        #expect(try WebhookURL(receiver: "https://8.8.8.8/", allowsPrivate: false).host == "8.8.8.8")
        #expect(try WebhookURL(receiver: "https://localhost.example", allowsPrivate: false).port == 443)
    }

    @Test(
        arguments: [
            ([], nil), (Array("ok".utf8), "ok"), ([0x61, 0x00, 0x62], "a\u{FFFD}b"), ([0xFF, 0x61], "\u{FFFD}a"),
            (Array(String(repeating: "a", count: 2000).utf8), String(repeating: "a", count: 1024)),
            // 1024 is no multiple of three, and the last character would be incomplete.
            (Array(String(repeating: "가", count: 2000).utf8), String(repeating: "가", count: 341)),
            ([UInt8](repeating: 0xFF, count: 2000), String(repeating: "\u{FFFD}", count: 341)),
        ] as [([UInt8], String?)])
    func `the beginning of an answer is kept as text`(_ bytes: [UInt8], text: String?) {
        #expect(WebhookResponse(bytes)?.text == text)
    }

    @Test(arguments: ["Bearer abc", "abc", "Basic dTpw", "~", String(repeating: "a", count: 1024)])
    func `a value of the header Authorization is accepted`(_ text: String) throws {
        let authorization = try #require(WebhookAuthorization(text))
        #expect(authorization.value == text)
        #expect("\(authorization)" == "hidden")
    }

    @Test(arguments: ["", " a", "a ", "a\nb", "a\r\nX-Y: z", "\u{E9}", "a\u{7F}", String(repeating: "a", count: 1025)])
    func `another value of the header Authorization is refused`(_ text: String) {
        #expect(WebhookAuthorization(text) == nil)
    }

    /// The first and last addresses of the ranges that are not public.
    @Test(arguments: [
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
        "127.255.255.255", "169.254.0.0", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.255",
        "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255", "198.51.100.7",
        "203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.0", "255.255.255.255", "::", "::1",
        "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::7f00:1", "100::1", "2001::1", "2001:1ff::1", "2001:db8::1",
        "2002:7f00:1::", "3fff::1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "ff02::1",
    ])
    func `an address outside the public network is not public`(_ text: String) throws {
        #expect(!AddressRange.isPublic(try bytes(text)))
    }

    @Test(arguments: [
        "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
        "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.167.255.255",
        "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "8.8.8.8", "2001:200::1", "2001:db9::1",
        "2003::1", "2606:4700::1111", "3ffe:ffff::1",
    ])
    func `an address of the public network is public`(_ text: String) throws {
        #expect(AddressRange.isPublic(try bytes(text)))
    }

    private func bytes(_ text: String) throws -> [UInt8] {
        let isOfVersion6 = text.contains(":")
        var bytes = [UInt8](repeating: 0, count: isOfVersion6 ? 16 : 4)
        try #require(inet_pton(isOfVersion6 ? AF_INET6 : AF_INET, text, &bytes) == 1)
        return bytes
    }

    @Test func `bytes of another length are not public`() {
        #expect(!AddressRange.isPublic([]))
        #expect(!AddressRange.isPublic([8, 8, 8]))
    }

    /// The example of Standard Webhooks' reference libraries.
    @Test func `messages are signed as Standard Webhooks specifies`() throws {
        let secret = try #require(WebhookSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let previous = try #require(WebhookSecret("whsec_" + String(repeating: "A", count: 32)))
        let signed = SignedWebhook(
            Array(#"{"test": 2432232314}"#.utf8), identifier: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            secrets: [secret, previous],
            at: Timestamp(secondsSince1970: 1_614_265_330))
        let headers = Dictionary(uniqueKeysWithValues: signed.headers.map { ($0.name, $0.value) })
        #expect(headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek")
        #expect(headers["webhook-timestamp"] == "1614265330")
        let signatures = try #require(headers["webhook-signature"]).split(separator: " ")
        #expect(signatures.first == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
        #expect(signatures.count == 2)
        #expect(secret.description == "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    }

    @Test func `the delays grow and end after three days`() throws {
        let now = Timestamp(secondsSince1970: 1_790_000_000)
        var total: Int64 = 0
        var last: Int64 = 0
        for attempts in 1...WebhookSchedule.delays.count {
            let nexts = try [0, UInt64.max].map { chance in
                try #require(
                    now.retry(after: attempts, delays: WebhookSchedule.delays, randomness: Randomness { chance }))
            }
            let delays = nexts.map { $0.millisecondsSince1970 - now.millisecondsSince1970 }
            #expect(delays[0] > last)
            #expect(delays[1] == delays[0] + delays[0] / 10)
            last = delays[1]
            total += delays[0]
        }
        #expect((3 * 86_400_000...4 * 86_400_000).contains(total))
        #expect(
            now.retry(after: WebhookSchedule.delays.count + 1, delays: WebhookSchedule.delays, randomness: .system)
                == nil)
    }

    @Test func `a replaced secret signs until it ends`() {
        let now = Timestamp(secondsSince1970: 1_790_000_000)
        let endpoint = WebhookEndpoint(
            identifier: "a", url: "https://example.com", createdAt: now, createdBy: "K", secret: [2],
            previousSecret: [1], previousSecretEndsAt: now)
        #expect(endpoint.secrets(at: now).map(\.description) == ["whsec_Ag=="])
        let before = Timestamp(millisecondsSince1970: now.millisecondsSince1970 - 1)
        #expect(endpoint.secrets(at: before).map(\.description) == ["whsec_Ag==", "whsec_AQ=="])
    }

    @Test func `changes of one millisecond are sorted by the order of recording`() {
        var last: [UInt8]?
        var identifiers: [[UInt8]] = []
        for number in 1...300 {
            // The random bytes alone would be in the opposite order.
            let random = [UInt8](repeating: UInt8(255 - number % 256), count: WebhookChangeIdentifier.randomCount)
            let identifier = WebhookChangeIdentifier(after: last, randomBytes: random).bytes
            identifiers.append(identifier)
            last = identifier
        }
        #expect(identifiers.allSatisfy { $0.count == 16 })
        #expect(identifiers[255].prefix(8) == [0, 0, 0, 0, 0, 0, 1, 0])
        #expect(zip(identifiers, identifiers.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    }
}

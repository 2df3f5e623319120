import Foundation
import Proofs
import Service
import Testing

/// Encoded messages, and the texts that a message refuses.
@Suite struct MailMessageTests {
    private static let date = Timestamp(millisecondsSince1970: 1_790_000_000_123)

    private func message(
        from sender: String = "no-reply@garden.example",
        to recipient: String = "mint@example.com",
        subject: String = "Hello",
        text: String = "Hi\n",
        identifier: String = "m1"
    ) throws -> MailMessage? {
        MailMessage(
            from: try #require(MailAddress(sender)), to: try #require(MailAddress(recipient)), subject: subject,
            text: text, identifier: identifier, date: Self.date)
    }

    private func lines(_ message: MailMessage?) throws -> [String] {
        String(decoding: try #require(message).encoded(), as: UTF8.self).components(separatedBy: "\r\n")
    }

    @Test func `a plain message has header fields in ASCII and a text in base64`() throws {
        #expect(
            try lines(message()) == [
                "From: no-reply@garden.example", "To: mint@example.com", "Subject: Hello",
                "Date: Mon, 21 Sep 2026 14:13:20 +0000", "Message-ID: <m1@garden.example>",
                "Auto-Submitted: auto-generated", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8",
                "Content-Transfer-Encoding: base64", "", "SGkNCg==", "",
            ])
    }

    @Test func `a message in Korean has encoded words of whole characters, and short lines`() throws {
        let subject = String(repeating: "새 비밀번호를 설정해 주세요 ", count: 4)
        let message = try message(from: "정원 <no-reply@garden.example>", subject: subject, text: "안녕하세요\r\n반갑습니다")
        let lines = try lines(message)
        #expect(lines.allSatisfy { $0.utf8.count <= 76 && $0.utf8.allSatisfy { $0 < 0x7F } })
        #expect(lines[0] == "From: =?utf-8?B?7KCV7JuQ?= <no-reply@garden.example>")
        let words = lines.flatMap { $0.matches(of: /=\?utf-8\?B\?([A-Za-z0-9+\/=]+)\?=/).map { String($0.1) } }
            .dropFirst()
        let texts = words.map { word in Data(base64Encoded: word).flatMap { String(data: $0, encoding: .utf8) } }
        #expect(texts.count > 2)
        #expect(texts.compactMap(\.self).joined() == subject)
        let body = try #require(Data(base64Encoded: lines.drop { !$0.isEmpty }.joined()))
        #expect(String(decoding: body, as: UTF8.self) == "안녕하세요\r\n반갑습니다")
    }

    @Test(arguments: [
        "Hi\r\nBcc: all@example.com", "Hi\nX: y", "Hi\u{0}", "Hi\r", "Hi\u{85}", String(repeating: "x", count: 513),
    ])
    func `no subject becomes a header field of its own`(subject: String) throws {
        #expect(try message(subject: subject) == nil)
    }

    @Test(arguments: ["", "a b", "a\r\nb", "a>b", "ü", String(repeating: "a", count: 129)])
    func `an identifier has letters and digits`(identifier: String) throws {
        #expect(try message(identifier: identifier) == nil)
    }

    @Test func `a subject that looks like an encoded word is encoded`() throws {
        #expect(try lines(message(subject: "=?utf-8?B?SGk=?="))[2] == "Subject: =?utf-8?B?PT91dGYtOD9CP1NHaz0/PQ==?=")
        #expect(
            try lines(message(from: #"A "b" \ c <a@b.example>"#))[0] == #"From: "A \"b\" \\ c" <a@b.example>"#)
    }

    @Test(arguments: [
        ("a@b.example", nil, "a@b.example"), ("Garden <a@b.example>", "Garden", "a@b.example"),
        ("  Garden of Mint  <a@b.example>", "Garden of Mint", "a@b.example"), ("<a@b.example>", nil, "a@b.example"),
    ])
    func `a mailbox has an address and perhaps a name`(text: String, name: String?, address: String) throws {
        let mailbox = try #require(MailAddress(text))
        #expect(mailbox.name == name)
        #expect(mailbox.address == address)
        #expect(mailbox.domain == "b.example")
    }

    @Test(arguments: [
        "", "a", "@b.example", "a@", "a@b@c", "a b@c.example", "a@b.example\r\nRCPT TO:<x@y.example>", "a@b.example>",
        "Garden <a@b.example", "a@[127.0.0.1]", "a@b/c.example", "a@b_c.example", "ä@b.example",
        "Gar\nden <a@b.example>", "a,b@c.example",
        "<a@b.example>, <c@d.example>", String(repeating: "a", count: 255) + "@b.example",
    ])
    func `other texts are no mailbox`(text: String) {
        #expect(MailAddress(text) == nil)
    }
}

import Service
import Testing

/// The addresses of mail servers, and the encryption of each.
@Suite struct MailServerTests {
    @Test(
        arguments: [
            ("smtp://mail.example", "mail.example", 587, .startTLS),
            ("smtp://mail.example:25", "mail.example", 25, .startTLS),
            ("smtps://mail.example", "mail.example", 465, .implicit),
            ("SMTPS://mail.example:2465/", "mail.example", 2465, .implicit),
            ("smtp://127.0.0.1:2525", "127.0.0.1", 2525, .none), ("smtp://localhost", "localhost", 587, .none),
            ("smtp://[::1]:2525", "::1", 2525, .none), ("smtps://127.0.0.1", "127.0.0.1", 465, .implicit),
            // Names that only look like this machine.
            ("smtp://127.0.0.1.example", "127.0.0.1.example", 587, .startTLS),
            ("smtp://localhost.example", "localhost.example", 587, .startTLS),
        ] as [(String, String, Int, MailServer.Encryption)])
    func `only a server on this machine is reached without TLS`(
        text: String,
        host: String,
        port: Int,
        encryption: MailServer.Encryption
    ) throws {
        let server = try #require(MailServer(text))
        #expect(server.host == host)
        #expect(server.port == port)
        #expect(server.encryption == encryption)
        // Certificates are there to be checked.
        #expect(try #require(MailServer(text, certificates: "ca.pem")).encryption != .none)
    }

    @Test(arguments: [
        "", "mail.example", "http://mail.example", "smtp://", "smtp://user@mail.example",
        "smtp://user:secret@mail.example", "smtp://mail.example/x", "smtp://mail.example?x", "smtp://mail.example#x",
        "smtp://mail.example:0", "smtp://mail.example:70000", "smtp://mail.example\r\nx",
        "smtp://" + String(repeating: "a", count: 600),
    ])
    func `other texts are no server`(text: String) {
        #expect(MailServer(text) == nil)
    }

    @Test func `the address of a server has no secret`() throws {
        let server = try #require(
            MailServer("smtp://[::1]:2525", credentials: (username: "garden", password: "secret")))
        #expect(server.url == "smtp://[::1]:2525")
    }
}

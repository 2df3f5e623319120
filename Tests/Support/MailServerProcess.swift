import Foundation

/// A real mail server (aiosmtpd) on a free port of this machine, which runs until its last owner releases it.
package final class MailServerProcess: Sendable {
    package enum Encryption: String, Sendable {
        case none
        case startTLS = "starttls"
        case implicit
    }

    /// A Python with aiosmtpd; nil if there is none.
    private static let python: URL? = {
        let file = Project.root.appending(path: ".build/mail-server/bin/python", directoryHint: .notDirectory)
        return FileManager.default.isExecutableFile(atPath: file.path) ? file : nil
    }()

    package static var isAvailable: Bool { python != nil }

    package let port: Int
    /// The self-signed certificate of the server; nil for a server without TLS.
    package let certificate: URL?
    private let folder: TemporaryFolder
    private let process: Process
    /// The server's input. Closing it stops the server.
    private let input: Pipe

    struct NotListening: Error {}

    /// Starts the server and waits until it listens.
    ///
    /// - Parameter password: The password of the user `garden`; nil for a server without log-in.
    package init(_ encryption: Encryption = .none, password: String? = nil) async throws {
        guard let python = Self.python else { throw NotListening() }
        folder = try TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.folder("box"), withIntermediateDirectories: true)
        let script = Project.root.appending(path: "Tests/Mailer/mail_server.py", directoryHint: .notDirectory)
        var arguments = [script.path, folder.folder("box").path, "--tls", encryption.rawValue]
        if encryption == .none {
            certificate = nil
        } else {
            certificate = try await Self.makeCertificate(in: folder)
            arguments += ["--certificate", folder.file("server.pem").path, "--key", folder.file("key.pem").path]
        }
        if let password { arguments += ["--password", password] }
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = python
        process.arguments = arguments
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.launchAlone()
        try output.fileHandleForWriting.close()
        let (pieces, arriving) = AsyncStream<String>.makeStream()
        output.fileHandleForReading.readabilityHandler = { handle in
            let data = handle.availableData
            arriving.yield(String(decoding: data, as: UTF8.self))
            if data.isEmpty { arriving.finish() }
        }
        defer { output.fileHandleForReading.readabilityHandler = nil }
        var line = ""
        for await piece in pieces {
            line += piece
            if line.contains("\n") { break }
        }
        guard let port = Int(line.trimmingCharacters(in: .newlines)) else { throw NotListening() }
        self.port = port
        self.process = process
        self.input = input
    }

    deinit {
        try? input.fileHandleForWriting.close()
        if process.isRunning { process.terminate() }
    }

    private static func makeCertificate(in folder: TemporaryFolder) async throws -> URL {
        let file = folder.file("server.pem")
        try await Tool.run(
            "openssl",
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout",
                folder.file("key.pem").path, "-out", file.path, "-days", "2", "-subj", "/CN=localhost", "-addext",
                "subjectAltName=DNS:localhost,IP:127.0.0.1",
            ], in: folder.url)
        return file
    }

    /// The accepted messages, in their order.
    package var received: [ReceivedMail] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: folder.folder("box").path)
                .filter { $0.hasSuffix(".eml") }.sorted()
                .map { ReceivedMail(try Data(contentsOf: folder.folder("box").appending(path: $0))) }
        }
    }
}

import Foundation
import Proofs

/// A certificate authority whose revocations `openssl ocsp` reports, from files or over HTTP on loopback.
package final class OpenSSLAuthority: Sendable {
    private let folder: TemporaryFolder

    /// - Parameter key: The key of the certificate.
    package init(_ certificate: Certificate, key: PrivateKey) throws {
        folder = try TemporaryFolder()
        try Data(certificate.pem.utf8).write(to: folder.file("authority.pem"))
        try Data(try key.pem().utf8).write(to: folder.file("authority.key"))
        try Data().write(to: folder.file("index.txt"))
    }

    /// Records an issued certificate.
    ///
    /// - Parameter revokedAt: The revocation in OpenSSL's format, such as `260102030405Z`; nil for a good certificate.
    package func record(_ certificate: Certificate, revokedAt: String? = nil) throws {
        let serial = certificate.serialNumber.map { String(format: "%02X", $0) }.joined()
        let index = folder.file("index.txt")
        var lines = try String(contentsOf: index, encoding: .utf8).split(separator: "\n").map(String.init)
        lines.removeAll { $0.contains("\t\(serial)\t") }
        lines.append(
            "\(revokedAt == nil ? "V" : "R")\t400101000000Z\t\(revokedAt ?? "")\t\(serial)\tunknown\t/CN=\(serial)")
        try Data((lines.joined(separator: "\n") + "\n").utf8).write(to: index, options: .atomic)
    }

    /// The signer of the answers.
    package enum Signer: Sendable {
        case authority
        /// A certificate issued by the authority, with or without the extension for OCSP signing.
        case delegate(isAppointed: Bool)
        case stranger(Certificate, PrivateKey)
    }

    /// The answer to a request, valid for a day.
    package func answer(to request: [UInt8], signedBy signer: Signer = .authority, byKey: Bool = true) async throws
        -> [UInt8]
    {
        let name = UUID().uuidString
        try Data(request).write(to: folder.file("\(name).request"))
        var arguments = ["ocsp", "-reqin", "\(name).request", "-respout", "\(name).answer", "-ndays", "1"]
        arguments += ["-index", "index.txt", "-CA", "authority.pem"] + (byKey ? ["-resp_key_id"] : [])
        arguments += try await credentials(of: signer)
        try await Tool.run("openssl", arguments, in: folder.url)
        return Array(try Data(contentsOf: folder.file("\(name).answer")))
    }

    private func credentials(of signer: Signer) async throws -> [String] {
        switch signer {
        case .authority: break
        case .stranger(let certificate, let key):
            try Data(certificate.pem.utf8).write(to: folder.file("signer.pem"))
            try Data(try key.pem().utf8).write(to: folder.file("signer.key"))
            return ["-rsigner", "signer.pem", "-rkey", "signer.key"]
        case .delegate(let isAppointed):
            try Data((isAppointed ? "extendedKeyUsage = OCSPSigning" : "keyUsage = digitalSignature").utf8)
                .write(to: folder.file("extensions"))
            try await Tool.run(
                "openssl",
                [
                    "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", "signer.key", "-out", "signer.csr",
                    "-subj",
                    "/CN=Responder",
                ], in: folder.url)
            try await Tool.run(
                "openssl",
                [
                    "x509", "-req", "-in", "signer.csr", "-CA", "authority.pem", "-CAkey", "authority.key",
                    "-set_serial", "77", "-days", "2", "-extfile", "extensions", "-out", "signer.pem",
                ], in: folder.url)
            return ["-rsigner", "signer.pem", "-rkey", "signer.key"]
        }
        return ["-rsigner", "authority.pem", "-rkey", "authority.key"]
    }

    /// Starts a responder over HTTP, which stops with its last owner.
    package func serve() async throws -> OpenSSLResponder {
        try await OpenSSLResponder(
            arguments: [
                "ocsp", "-port", "0", "-index", "index.txt", "-CA", "authority.pem", "-rsigner", "authority.pem",
                "-rkey",
                "authority.key", "-resp_key_id", "-ndays", "1",
            ], folder: folder)
    }
}

/// A running `openssl ocsp`, which stops with its last owner.
package final class OpenSSLResponder: Sendable {
    package let url: String
    private let process: Process
    private let folder: TemporaryFolder

    fileprivate init(arguments: [String], folder: TemporaryFolder) async throws {
        process = Tool.process("openssl", arguments, in: folder.url)
        self.folder = folder
        let output = Pipe()
        process.standardOutput = output
        try process.launchAlone()
        // Its first line has the port: ACCEPT [::]:PORT PID=…
        var line = ""
        while !line.hasSuffix("\n") {
            let data = output.fileHandleForReading.availableData
            if data.isEmpty { break }
            line += String(decoding: data, as: UTF8.self)
        }
        line = String(line.prefix { $0 != "\n" })
        let port = line.split(separator: " ").dropFirst().first?.split(separator: ":").last.flatMap { Int($0) }
        guard let port else { throw Tool.Failure(command: "openssl ocsp", status: 0, error: line) }
        url = "http://127.0.0.1:\(port)/"
    }

    /// Makes it read new records. It looks for them only after it has answered a request.
    package func readRecords() async throws {
        let request = ["ocsp", "-url", url, "-issuer", "authority.pem", "-serial", "1", "-noverify"]
        try await Tool.run("openssl", request, in: folder.url)
    }

    /// Kills it, because `openssl ocsp` ignores SIGTERM, and returns when nothing listens any more.
    package func stop() async {
        await withCheckedContinuation { continuation in
            process.terminationHandler = { _ in continuation.resume() }
            kill(process.processIdentifier, SIGKILL)
        }
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }
}

extension Certificate {
    /// The certificate in PEM (RFC 7468 section 5.1).
    fileprivate var pem: String {
        let lines = stride(from: 0, to: der.count, by: 48).map { start in
            Base64.encode(der[start..<min(start + 48, der.count)]) + "\n"
        }
        return "-----BEGIN CERTIFICATE-----\n" + lines.joined() + "-----END CERTIFICATE-----\n"
    }
}

import Foundation
import Proofs
import TestSupport

/// A separate data directory, with a trusted chain of certificates and an API key.
struct AttackFixture: Sendable {
    struct BinaryMissing: Error, CustomStringConvertible {
        let description: String
    }

    struct CommandFailed: Error, CustomStringConvertible {
        let description: String
    }

    /// The chain that signs genuine transactions and notifications.
    let chain: CertificateChain
    /// A trusted chain that the service meets first during the attack.
    let unseenChain: CertificateChain
    /// The trusted chain that signs app receipts.
    let receiptChain: CertificateChain
    /// The API key, with the scopes `read` and `redeem`.
    let key: String
    /// The requests with the public key of the app.
    let door: DoorRequests
    let folder: TemporaryFolder

    init() async throws {
        chain = try TestChains.ellipticCurve.get()
        folder = try TemporaryFolder()
        unseenChain = try TestChains.make(name: "Unseen")
        receiptChain = try TestChains.rsa.get()
        for chain in [chain, unseenChain, receiptChain] {
            let root = folder.file("root.cer")
            try Data(chain.root.certificate.der).write(to: root)
            _ = try await Self.run(["trust", "add", root.path], in: folder)
        }
        key = try await Self.makeKey(["probe"], in: folder)
        door = DoorRequests(
            key: try await Self.makeKey(["--public", "--bundle-id", TestProofs.bundleIdentifier], in: folder))
    }

    /// A genuine signed transaction.
    ///
    /// - Parameter number: The number that makes the identifier.
    static func transaction(_ number: Int, changing changes: [String: JSONValue?] = [:]) throws -> String {
        let payload = TestProofs.transactionPayload(
            transactionId: String(2_000_000_000_000_000 + number), changing: changes)
        return String(
            decoding: try TestProofs.transaction(payload, chain: try TestChains.ellipticCurve.get()), as: UTF8.self)
    }

    /// The size of the files in the data directory, in bytes.
    var dataSize: Int {
        let files = FileManager.default.enumerator(
            at: folder.folder("data"), includingPropertiesForKeys: [.fileSizeKey])
        // A file that has just been deleted has no size.
        return files?.reduce(0) { size, file in
            size + ((try? (file as? URL)?.resourceValues(forKeys: [.fileSizeKey]).fileSize) ?? 0)
        } ?? 0
    }

    /// Makes an API key with scopes.
    func makeKey(_ name: String, scopes: [String]) async throws -> String {
        try await Self.makeKey([name] + scopes.flatMap { ["--scope", $0] }, in: folder)
    }

    /// The number of users in the ledger.
    ///
    /// - Throws: `CommandFailed` if the ledger is not sound.
    func users() async throws -> Int {
        let report = try await Self.run(["ledger", "check", "--json"], in: folder)
        return try JSONDecoder().decode(LedgerContents.self, from: Data(report.utf8)).users
    }

    private struct LedgerContents: Decodable {
        let users: Int
    }

    private static func makeKey(_ arguments: [String], in folder: TemporaryFolder) async throws -> String {
        try await run(["keys", "make"] + arguments, in: folder).trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The `till` command, ready to run in the data directory.
    func process(_ arguments: [String]) throws -> Process {
        try Self.process(arguments, in: folder)
    }

    private static func process(_ arguments: [String], in folder: TemporaryFolder) throws -> Process {
        let process = Process()
        process.executableURL = try binary
        process.arguments = arguments
        // A binary outside the project finds the catalog here.
        process.currentDirectoryURL = Project.root
        process.environment = ProcessInfo.processInfo.environment
            .merging(["TILL_DATA": folder.folder("data").path]) { $1 }
        process.standardInput = FileHandle.nullDevice
        return process
    }

    private static func run(_ arguments: [String], in folder: TemporaryFolder) async throws -> String {
        let process = try process(arguments, in: folder)
        let (output, errors) = (folder.file("\(UUID().uuidString).out"), folder.file("\(UUID().uuidString).err"))
        for file in [output, errors] { try Data().write(to: file) }
        process.standardOutput = try FileHandle(forWritingTo: output)
        process.standardError = try FileHandle(forWritingTo: errors)
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            process.terminationHandler = { _ in continuation.resume() }
            do { try process.launchAlone() } catch { continuation.resume(throwing: error) }
        }
        guard process.terminationStatus == 0 else {
            let reason = try [errors, output].map { try String(contentsOf: $0, encoding: .utf8) }.joined()
            throw CommandFailed(description: "till \(arguments.joined(separator: " ")): \(reason)")
        }
        return try String(contentsOf: output, encoding: .utf8)
    }

    /// The binary under attack: that of TILL_ATTACK_BINARY, else the one that the build puts above the test bundle.
    private static var binary: URL {
        get throws {
            if let path = ProcessInfo.processInfo.environment["TILL_ATTACK_BINARY"], !path.isEmpty {
                guard FileManager.default.isExecutableFile(atPath: path) else {
                    throw BinaryMissing(description: "TILL_ATTACK_BINARY is \"\(path)\", which is no executable file.")
                }
                return URL(filePath: path)
            }
            var folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
            while folder.path != "/" {
                let candidate = folder.appending(path: "till", directoryHint: .notDirectory)
                if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
                folder = folder.deletingLastPathComponent()
            }
            throw BinaryMissing(description: "The till binary is missing; run `make build`.")
        }
    }
}

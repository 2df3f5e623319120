import AppStore
import ArgumentParser
import Catalog
import Foundation
import Proofs
import Service
import Vocabulary

struct ReceiptCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receipt",
        abstract: "Export, validate and redeem proofs of purchase.",
        subcommands: [ReceiptExport.self, ReceiptValidate.self, ReceiptRedeem.self])
}

struct ReceiptExport: Command, NamesUser {
    static let configuration = CommandConfiguration(
        "export", "Write a user's app receipt, in base64 as an app sends it.",
        examples: """
            till receipt export --user alice --out alice.receipt
            till receipt export --user alice --transaction 1 --out alice.jws
            till receipt export --user alice | till receipt validate -
            """)

    @OptionGroup var subject: UserArgument

    @Option(help: .value("number", "The transaction (by its number; its signed form, JWS, instead of the receipt)."))
    var transaction: Int64?

    @Option(help: .out("default: standard output"))
    var out: String?

    @OptionGroup var common: CommonOptions

    func perform() async throws {
        let store = try common.existingStore
        let proof: String
        if let transaction {
            proof = try store.read { books in
                _ = try books.queued(transaction, account: user.name)
                return try books.signedTransaction(transaction)
            }
        } else {
            proof = try store.read { try $0.receipt(account: user.name) }
        }
        guard let out, out != "-" else {
            terminal.line(proof)
            return try terminal.json([transaction == nil ? "receipt" : "signedTransaction": proof])
        }
        do {
            try write(Data((proof + "\n").utf8), to: URL(filePath: out).resolvingSymlinksInPath())
        } catch {
            try terminal.fail(
                code: "fileUnwritable",
                message: "\"\(out)\" cannot be written. Check its folder, its disk and its owner."
            )
        }
        terminal.line("The \(transaction == nil ? "app receipt" : "signed transaction") of \(user) is in \(out).")
        try terminal.json(["file": out])
    }

    /// Replaces a file completely or not at all. Writes directly into a device or a pipe.
    private func write(_ data: Data, to url: URL) throws {
        let type = try? FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
        guard let type, type != .typeRegular else { return try data.write(to: url, options: .atomic) }
        let handle = try FileHandle(forWritingTo: url)
        try handle.write(contentsOf: data)
        try handle.close()
    }
}

struct ReceiptRedeem: Command, NamesUser {
    static let configuration = CommandConfiguration(
        "redeem", "Redeem a proof of purchase for a user.", examples: "till receipt redeem alice.receipt --user alice")

    @Argument(
        help: ArgumentHelp(
            "An app receipt (base64 or DER), a signed transaction (JWS), or a JSON object with the purchase and the signature of Google "
                + "Play, or with a purchase token; - reads standard input."))
    var file: String

    @OptionGroup var subject: UserArgument

    @OptionGroup var naming: UserNaming

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    static var positions: [String: ArgumentPosition] { ["--user": .last] }

    func perform() async throws {
        let proof = try ProofFile(path: file).proof
        let (data, server) = (common.dataDirectory, service)
        let redemption = try await service.withService(
            for: user, issuer: naming.issuer, or: { try await Parties(data, server: server).localService }
        ) {
            try await $0.redeem(proof)
        }
        switch redemption.outcome {
        case .granted: terminal.line("Granted.")
        case .revoked: terminal.line("Nothing new: the purchase was revoked.")
        case .unchanged: terminal.line("Nothing changed: it was redeemed before.")
        case .partlyRefused: terminal.line("Nothing new: some purchases were redeemed before, and some were refused.")
        case .nothingToRedeem: terminal.line("The receipt is authentic and holds no purchase.")
        }
        for line in redemption.transactions {
            terminal.line("  \(line.transactionId)  \(line.productId)  \(line.result.rawValue)")
        }
        // A running service may have another catalog.
        let catalog = service.server == nil || common.namesCatalog ? try common.dataDirectory.catalog() : nil
        // The key may redeem, and not read balances.
        terminal.owned(
            catalog?.named(redemption.items) ?? redemption.items.map { ($0, "") }, nil, by: service.named(user))
        try terminal.json(redemption)
    }
}

struct ReceiptValidate: Command {
    static let configuration = CommandConfiguration(
        "validate", "Verify a proof of purchase and print its content.",
        """
        The command only reads: it creates no keys and no data directory. It uses the network only with --server or \
        --check-revocation. It trusts the certificates of --trust, or else those in Keys/ and of the local store.
        """,
        examples: """
            till receipt validate alice.receipt
            till receipt validate transaction.jws --trust apple-roots \\
              --environment Production
            till receipt validate alice.receipt --format verify-receipt
            till receipt validate alice.receipt --server http://127.0.0.1:8080
            pbpaste | till receipt validate - --bundle-id com.memolease.sesac1
            till receipt validate purchase.json --signature purchase.sig
            """)

    @Argument(
        help: ArgumentHelp(
            "An app receipt (base64 or DER) or a JWS of Apple's, or a JSON object with the purchase and the signature of Google Play; - "
                + "reads standard input."))
    var file: String

    @Option(help: .value("file", "The signature of Google Play in base64. FILE is then the signed text, to the byte."))
    var signature: String?

    @Option(
        help: .value(
            "base64", "The public key of the app on Google Play, instead of the trusted ones; needs --bundle-id."))
    var appKey: String?

    @Option(help: .bundleIdentifier("required of the proof; default: any"))
    var bundleId: String?

    @Option(help: "The environment of the purchases (required: Sandbox, Production or Xcode; default: any).")
    var environment: AppStoreEnvironment?

    @Option(
        help: .value("id", "The required device: its identifierForVendor, or a Mac's network address in hexadecimal."))
    var guid: DeviceIdentifier?

    @Option(name: .customLong("format"), help: "The format (a report, or the response of Apple's verifyReceipt).")
    var output = ValidationOutput.report

    @Option(help: .value("dir", "A folder of root certificates to trust instead of the default ones."))
    var trust: String?

    @Flag(help: "Check over the network whether a certificate of the proof was revoked (OCSP).")
    var checkRevocation = false

    @OptionGroup var service: ServerOptions

    @OptionGroup var common: CommonOptions

    func validate() throws {
        try require(
            environment != .localTesting,
            "--environment must be Sandbox, Production or Xcode. No signer is trusted for LocalTesting.")
        let hasChecksOfItsOwn =
            bundleId != nil || environment != nil || guid != nil || trust != nil || appKey != nil || checkRevocation
        try require(
            service.server == nil || !hasChecksOfItsOwn && output == .report,
            "With --server, the service has its own requirements. Leave the other options out.")
        try require(
            !checkRevocation || output == .report,
            "Apple's verifyReceipt checks no revocation. Leave out --check-revocation or --format.")
        try require(
            appKey == nil || bundleId != nil, "--app-key needs the name of the app's package. Add --bundle-id.")
        try require(
            signature == nil || output == .report,
            "Apple's verifyReceipt knows no purchases of Google Play. Leave out --signature or --format.")
    }

    func perform() async throws {
        let proof = try ProofFile(path: file, signature: signature)
        if let client = try service.client() { return try show(try await verdict(of: client, on: proof)) }
        let folders = try trustedFolders
        let verifier = ProofVerifier(
            anchors: try TrustAnchors(folders: folders), appKeys: try givenKeys ?? [AppKey](folders: folders),
            clock: SystemClock())
        if output == .verifyReceipt { return try answer(proof, verifier: verifier) }
        let expectations = ProofExpectations(
            bundleIdentifier: bundleId, environment: environment, origins: Set(Origin.allCases),
            deviceIdentifier: guid?.bytes)
        let report: ValidationReport
        do {
            let verified = try verifier.verify(proof.bytes, expecting: expectations)
            if checkRevocation {
                try await RevocationChecker(clock: SystemClock()).check(verified)
            }
            report = .valid(ProofResource(verified), purchase: verified.signedPurchase)
        } catch {
            report = .invalid(reason: error.code, message: error.message)
        }
        try show(report)
    }

    private func verdict(of client: ServiceClient, on proof: ProofFile) async throws -> ValidationReport {
        do {
            return .valid(try await client.post("/v1/proofs/verify", ["proof": proof.text]))
        } catch let refusal as ServiceRefusal where ProofRefusal.Reason(rawValue: refusal.code) != nil {
            return .invalid(reason: refusal.code, message: refusal.message)
        }
    }

    private func show(_ report: ValidationReport) throws {
        report.lines.forEach(terminal.line)
        try terminal.json(report.report)
        if case .invalid(_, let message) = report { try terminal.end(message) }
    }

    /// Prints the response of verifyReceipt. It is always JSON.
    private func answer(_ proof: ProofFile, verifier: ProofVerifier) throws {
        let answer = VerifyReceiptAnswer(
            to: proof.bytes, environment: environment, verifier: verifier, requestDate: SystemClock().now())
        Terminal(isJSON: false).page(answer.json.prettyText, as: .json)
        if answer.status != .valid { throw ExitCode(1) }
    }

    private var givenKeys: [AppKey]? {
        get throws {
            guard let appKey, let bundleId else { return nil }
            do { return [try AppKey(packageName: bundleId, base64: appKey)] } catch {
                throw ValidationError("--app-key is unusable. \(error)")
            }
        }
    }

    private var trustedFolders: [URL] {
        get throws {
            if let trust { return [URL(filePath: trust, directoryHint: .isDirectory)] }
            return try common.dataDirectory.trustedFolders
        }
    }
}

/// The output format of `till receipt validate`.
enum ValidationOutput: String, CaseIterable, ExpressibleByArgument, Sendable {
    case report
    case verifyReceipt = "verify-receipt"
}

/// A device by the identifier that its receipts are made for.
struct DeviceIdentifier: ExpressibleByArgument {
    let bytes: [UInt8]

    /// - Parameter argument: A UUID, or the 6 bytes of a network address in hexadecimal, with or without separators.
    init?(argument: String) {
        let digits = Array(argument.filter { $0 != "-" && $0 != ":" })
        guard [12, 32].contains(digits.count), digits.allSatisfy({ $0.isASCII && $0.isHexDigit }) else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).compactMap { UInt8(String(digits[$0...$0 + 1]), radix: 16) }
    }
}

import Foundation
import HTTPSupport
import Proofs
import Service
import TestSupport
import Testing

@Suite struct ReceiptCommandTests {
    /// The output of `till receipt validate --json`.
    private struct Validation: Decodable {
        let valid: Bool
        let reason: String?
        let kind: ProofResource.Kind?
        let environment: String?
        let bundleId: String?
        let createdAt: String?
        let inAppPurchases: [ProofResource.Purchase]?
    }

    /// The answer of `verifyReceipt`.
    private struct VerifyReceiptAnswer: Decodable {
        struct Receipt: Decodable {
            let bundleId: String

            private enum CodingKeys: String, CodingKey {
                case bundleId = "bundle_id"
            }
        }

        let status: Int
        let receipt: Receipt?
    }

    /// The output of `till trust list --json`.
    private struct Trusted: Decodable {
        struct Root: Decodable {
            let name: String
            let sha256: String
            let file: String?
        }

        let trusted: [Root]
    }

    static let sprout1 = "com.memolease.sesac1.sprout1"

    /// A data directory in which alice has bought, and her receipt's file.
    private func shop() async throws -> (till: TillProcess, receipt: String) {
        let till = try TillProcess()
        try await till.run("buy", Self.sprout1, "--user", "alice")
        let file = till.folder.file("alice.receipt").path
        let exported = try await till.run("receipt", "export", "--user", "alice", "--out", file)
        #expect(exported.status == 0)
        return (till, file)
    }

    @Test func `a valid receipt is reported with its content`() async throws {
        let (till, receipt) = try await shop()
        let validated = try await till.run("receipt", "validate", receipt, "--json")
        #expect(validated.status == 0)
        let report = try validated.decoded(Validation.self)
        #expect(report.valid)
        #expect(report.kind == .appReceipt)
        #expect(report.environment == "Sandbox")
        #expect(report.bundleId == "com.memolease.sesac1")
        #expect(report.createdAt?.hasSuffix("Z") == true)
        #expect(report.inAppPurchases?.map(\.productId) == [Self.sprout1])
        #expect(try await till.run("receipt", "validate", receipt).output.hasPrefix("valid\n"))
    }

    @Test func `the end and the type of a subscription are printed, also those in a notification`() async throws {
        let (till, product) = (try TillProcess(), "garden.basic.monthly")
        let catalog = till.folder.file("Garden").path
        func run(_ arguments: String..., input: String? = nil) async throws -> TillProcess.Result {
            try await till.run(arguments: arguments, input: input, environment: ["TILL_CATALOG": catalog])
        }
        let made = try await run(
            "init", "--storekit", Project.root.appending(path: "Tests/Support/Garden.storekit").path, "--bundle-id",
            "com.example.garden", catalog)
        #expect(made.status == 0, "\(made.error)")
        #expect(try await run("buy", product, "--user", "alice").status == 0)
        let sale = try #require(
            try await run("store", "sales", "alice", "--json").decoded(List<SaleResource>.self).elements.first)
        let end = try #require(sale.expiresDate)
        let bought = "  purchase: \(product)  \(sale.transactionId)  \(sale.purchaseDate)  until \(end)"
        let receipt = try await run("receipt", "export", "--user", "alice").output
        let validated = try await run("receipt", "validate", "-", input: receipt)
        #expect(validated.output.contains(bought + "  Auto-Renewable Subscription\n"), "\(validated.output)")

        let sent = try await run("store", "notifications", "--json").decoded(JSONContent.self)
        guard case .array(let notifications)? = sent["notifications"] else { throw Absence() }
        let subscribed = notifications.first { $0["notificationType"]?.text == "SUBSCRIBED" }
        let signed = try #require(subscribed?["signedPayload"]?.text)
        let notified = try await run("receipt", "validate", "-", input: signed).output
        #expect(notified.contains("  notification: SUBSCRIBED  INITIAL_BUY\n"), "\(notified)")
        #expect(notified.contains(bought + "  Auto-Renewable Subscription\n"), "\(notified)")
        let json = try await run("receipt", "validate", "-", "--json", input: signed).decoded(JSONContent.self)
        #expect(json["notification"]?["type"]?.text == "SUBSCRIBED")
    }

    private struct Absence: Error {}

    @Test func `a receipt is read from standard input, with line breaks, and as DER`() async throws {
        let (till, receipt) = try await shop()
        let text = try String(contentsOfFile: receipt, encoding: .utf8)
        #expect(try await till.run("receipt", "validate", "-", input: text).status == 0)
        let wrapped = text.enumerated().map { $0.offset % 64 == 63 ? "\($0.element)\r\n" : "\($0.element)" }.joined()
        #expect(try await till.run("receipt", "validate", "-", input: wrapped).status == 0)
        let der = try #require(Data(base64Encoded: text.trimmingCharacters(in: .whitespacesAndNewlines)))
        try der.write(to: till.folder.file("receipt.der"))
        #expect(try await till.run("receipt", "validate", till.folder.file("receipt.der").path).status == 0)
        #expect(
            try await till.run("receipt", "redeem", till.folder.file("receipt.der").path, "--user", "alice").status == 0
        )
    }

    @Test(arguments: [
        (["--bundle-id", "com.example"], "bundleIdentifierMismatch"),
        (["--environment", "Production"], "environmentMismatch"),
    ])
    func `a receipt of another app or environment is invalid`(options: [String], reason: String) async throws {
        let (till, receipt) = try await shop()
        let validated = try await till.run("receipt", "validate", receipt, options[0], options[1], "--json")
        #expect(validated.status == 1)
        let report = try validated.decoded(Validation.self)
        #expect(!report.valid)
        #expect(report.reason == reason)
    }

    @Test func `only the roots in the folder of --trust are trusted`() async throws {
        let (till, receipt) = try await shop()
        let empty = till.folder.folder("trust")
        try FileManager.default.createDirectory(at: empty, withIntermediateDirectories: true)
        let validated = try await till.run("receipt", "validate", receipt, "--trust", empty.path)
        #expect(validated.status == 1)
        #expect(validated.output == "invalid: chainUntrusted\n")
        #expect(validated.error.hasPrefix("till: The proof's certificates do not lead to a trusted root"))
        let file = try await till.run("receipt", "validate", receipt, "--trust", receipt)
        #expect(file.error.contains("is a folder"))
        let missing = try await till.run("receipt", "validate", receipt, "--trust", "/nowhere")
        #expect(missing.status == 1)
        #expect(missing.error.contains("/nowhere"))
    }

    @Test func `a purchase of Google Play is judged by the trusted key, and its fields are explained`() async throws {
        let till = try TillProcess()
        let key = try PrivateKey.generateRSA()
        let purchase = try TestPurchase(of: "sprout1", by: key)
        let file = till.folder.file("purchase.json").path
        try purchase.text.write(toFile: file, atomically: true, encoding: .utf8)
        let unknown = try await till.run("receipt", "validate", file, "--json")
        #expect(unknown.status == 1)
        #expect(try unknown.decoded(Validation.self).reason == "appKeyMissing")

        let keyFile = till.folder.file("key.txt").path
        let base64 = try key.publicKey.informationText()
        try (base64 + "\n").write(toFile: keyFile, atomically: true, encoding: .utf8)
        let added = try await till.run("trust", "add", keyFile, "--package", "com.example.garden")
        #expect(added.status == 0 && added.output == "Trusted as google: com.example.garden\n")
        let validated = try await till.run("receipt", "validate", file, "--json")
        #expect(validated.status == 0)
        let report = try validated.decoded(Validation.self)
        #expect(report.valid && report.kind == .signedPurchase && report.bundleId == "com.example.garden")
        #expect(report.inAppPurchases?.map(\.transactionId) == ["aaaabbbbccccddddeeeeffff.AO-J1Oz_-"])
        let text = try await till.run("receipt", "validate", file).output
        #expect(text.contains("  origin: google/Production\n"))
        #expect(text.contains("  purchaseState: 0  (state of the payment)\n"))
        for (options, reason) in [
            (["--bundle-id", "com.example.other"], "bundleIdentifierMismatch"),
            (["--environment", "Sandbox"], "environmentMismatch"),
        ] {
            let refused = try await till.run(arguments: ["receipt", "validate", file, "--json"] + options)
            #expect(try refused.decoded(Validation.self).reason == reason)
        }

        let fingerprint = key.publicKey.fingerprint.hexadecimal
        #expect(try await till.run("trust", "list").output.contains(fingerprint))
        #expect(
            try await till.run("trust", "remove", String(fingerprint.prefix(8))).output
                == "Removed: com.example.garden\n")
        #expect(try await till.run("receipt", "validate", file).status == 1)
        let given = ["--app-key", base64, "--bundle-id", "com.example.garden"]
        #expect(try await till.run(arguments: ["receipt", "validate", file] + given).status == 0)
        #expect(try await till.run("receipt", "validate", file, "--app-key", base64).status != 0)
    }

    @Test func `a signed text of Google Play is read to the byte`() async throws {
        let till = try TillProcess()
        let key = try PrivateKey.generateRSA()
        let purchase = try TestPurchase(of: "sprout1", by: key).signed
        let (text, signature) = (till.folder.file("purchase.json"), till.folder.file("purchase.sig"))
        try Data(purchase.data).write(to: text)
        try Data(purchase.signature + [0x0A]).write(to: signature)
        let options = [
            "--signature", signature.path, "--app-key", try key.publicKey.informationText(), "--bundle-id",
            "com.example.garden", "--json",
        ]
        let validated = try await till.run(arguments: ["receipt", "validate", text.path] + options)
        #expect(validated.status == 0)
        try Data(purchase.data + [0x0A]).write(to: text)
        let changed = try await till.run(arguments: ["receipt", "validate", text.path] + options)
        #expect(try changed.decoded(Validation.self).reason == "signatureInvalid")
    }

    @Test func `a file that is no key of an app is refused`() async throws {
        let till = try TillProcess()
        let file = till.folder.file("key.txt").path
        try PrivateKey.generate(.p256).publicKey.informationText().write(
            toFile: file, atomically: true, encoding: .utf8)
        let refused = try await till.run("trust", "add", file, "--package", "com.example.garden")
        #expect(refused.status == 1 && refused.error.contains("is no RSA key"))
        #expect(try await till.run("trust", "add", file, "--package", "../garden").status != 0)
        #expect(try await till.run("trust", "add", file, "--bundle-id", "com.example.garden").status != 0)
    }

    @Test func `a signed transaction is exported for its user alone`() async throws {
        let (till, _) = try await shop()
        let exported = try await till.run("receipt", "export", "--user", "alice", "--transaction", "1")
        let validated = try await till.run("receipt", "validate", "-", "--json", input: exported.output)
        #expect(try validated.decoded(Validation.self).kind == .transaction)
        #expect(try await till.run("receipt", "export", "--user", "bob", "--transaction", "1").status == 1)
    }

    @Test func `the output in the format of verifyReceipt has Apple's status`() async throws {
        let (till, receipt) = try await shop()
        let answer = try await till.run("receipt", "validate", receipt, "--format", "verify-receipt")
        #expect(answer.status == 0)
        let verified = try answer.decoded(VerifyReceiptAnswer.self)
        #expect(verified.status == 0)
        #expect(verified.receipt?.bundleId == "com.memolease.sesac1")
        let wrong = try await till.run(
            "receipt", "validate", receipt, "--format", "verify-receipt", "--environment", "Production")
        #expect(wrong.status == 1)
        #expect(try wrong.decoded(VerifyReceiptAnswer.self).status == 21007)
    }

    @Test func `a trusted root is listed, removed and added again`() async throws {
        let (till, receipt) = try await shop()
        let listed = try await till.run("trust", "list", "--json").decoded(Trusted.self).trusted
        #expect(listed.count >= 2)
        let root = try #require(listed.first { $0.name == "Till Local Receipts Root" })
        let copy = till.folder.file("root.cer")
        try FileManager.default.copyItem(atPath: try #require(root.file), toPath: copy.path)
        #expect(try await till.run("trust", "remove", root.sha256).status == 0)
        #expect(try await till.run("receipt", "validate", receipt).output == "invalid: chainUntrusted\n")
        #expect(try await till.run("trust", "add", copy.path).output == "Trusted as local: Till Local Receipts Root\n")
        #expect(try await till.run("receipt", "validate", receipt).status == 0)
        #expect(try await till.run("trust", "add", receipt).error.contains("is not a certificate"))
    }

    @Test func `a receipt with a changed byte is invalid, and is not redeemed`() async throws {
        let (till, receipt) = try await shop()
        let text = try String(contentsOfFile: receipt, encoding: .utf8).trimmingCharacters(in: .whitespacesAndNewlines)
        var der = try #require(Data(base64Encoded: text))
        der[der.count - 1] ^= 1
        let changed = der.base64EncodedString()
        let validated = try await till.run("receipt", "validate", "-", "--json", input: changed)
        #expect(validated.status == 1)
        #expect(try validated.decoded(Validation.self).reason == "signatureInvalid")
        let redeemed = try await till.run("receipt", "redeem", "-", "--user", "bob", "--json", input: changed)
        #expect(redeemed.status == 1)
        #expect(redeemed.code == "signatureInvalid")
    }

    @Test func `a validation creates no data directory`() async throws {
        let (till, receipt) = try await shop()
        let nowhere = till.folder.folder("nowhere")
        let validated = try await till.run("receipt", "validate", receipt, "--data", nowhere.path)
        #expect(validated.status == 1)
        #expect(!FileManager.default.fileExists(atPath: nowhere.path))
    }

    @Test func `a second redemption changes nothing, and that of another user is refused`() async throws {
        let (till, receipt) = try await shop()
        let again = try await till.run("receipt", "redeem", receipt, "--user", "alice")
        #expect(again.status == 0)
        #expect(again.output.hasPrefix("Nothing changed"))
        let other = try await till.run("receipt", "redeem", receipt, "--user", "bob", "--json")
        #expect(other.status == 1)
        #expect(other.code == "ownedByAnotherUser")
        #expect(other.error == "till: Another user has redeemed the purchase and keeps it. Log in as that user.\n")
    }

    @Test func `a receipt without purchases is authentic`() async throws {
        let till = try TillProcess()
        try await till.run("resume", "--user", "nobody")
        let receipt = try await till.run("receipt", "export", "--user", "nobody").output
        #expect(try await till.run("receipt", "validate", "-", input: receipt).output.contains("purchases: none"))
        let redeemed = try await till.run("receipt", "redeem", "-", "--user", "nobody", input: receipt)
        #expect(redeemed.status == 0)
        #expect(redeemed.output.hasPrefix("The receipt is authentic and holds no purchase."))
    }

    @Test(
        .enabled(if: Vectors.areAvailable, "TILL_VECTORS names no folder"),
        arguments: Vectors.files("receipts") + Vectors.files("jws"))
    func `Apple's own proofs are valid, and others are not`(file: URL) async throws {
        let till = try TillProcess(hasKeys: false)
        let roots = till.folder.folder("roots")
        try FileManager.default.createDirectory(at: roots, withIntermediateDirectories: true)
        for root in Vectors.files("certs", prefix: "Apple") {
            try FileManager.default.copyItem(at: root, to: roots.appending(path: root.lastPathComponent))
        }
        let validated = try await till.run("receipt", "validate", file.path, "--trust", roots.path)
        #expect(validated.status == (file.lastPathComponent.hasPrefix("apple-") ? 0 : 1))
    }
}

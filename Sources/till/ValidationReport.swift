import AppStore
import Foundation
import HTTPSupport
import Proofs
import Service

/// The JSON output of `till receipt validate`.
struct ValidationReport: Encodable {
    let valid: Bool
    /// The error code if the proof is invalid.
    let reason: String?
    let message: String?
    /// The verification step that failed.
    let step: ProofRefusal.Step?
    var kind: ProofResource.Kind?
    var origin: Origin?
    var environment: AppStoreEnvironment?
    var bundleId: String?
    /// The signing date of a JWS; RFC 3339, UTC.
    var signedAt: String?
    /// The creation date of an app receipt; RFC 3339, UTC.
    var createdAt: String?
    var inAppPurchases: [ProofResource.Purchase]?

    init(_ refusal: ProofRefusal) {
        self.init(reason: refusal.code, message: refusal.message)
    }

    /// - Parameter reason: An error code, as a service returns it.
    init(reason: String, message: String) {
        valid = false
        self.reason = reason
        self.message = message
        step = ProofRefusal.Reason(rawValue: reason)?.step
    }

    init(_ proof: ProofResource) {
        valid = true
        reason = nil
        message = nil
        step = nil
        kind = proof.kind
        origin = proof.origin
        environment = proof.environment
        bundleId = proof.bundleId
        if proof.kind == .appReceipt {
            createdAt = proof.signedAt
        } else {
            signedAt = proof.signedAt
        }
        inAppPurchases = proof.purchases ?? []
    }

    /// The report as text.
    var lines: [String] {
        guard valid else { return ["invalid: \(reason ?? "")"] }
        var lines = ["valid"]
        let facts = [
            ("kind", kind?.rawValue), ("origin", origin?.rawValue), ("app", bundleId), ("created", createdAt),
            ("signed", signedAt),
        ]
        for case (let name, let value?) in facts { lines.append("  \(name): \(value)") }
        let purchases = inAppPurchases ?? []
        if kind == .appReceipt, purchases.isEmpty { lines.append("  purchases: none") }
        for purchase in purchases {
            lines.append("  purchase: \(purchase.productId)  \(purchase.transactionId)  \(purchase.purchaseDate)")
        }
        return lines
    }
}

/// A file with a proof of purchase: saved text, or the DER of an app receipt.
struct ProofFile {
    /// The proof for a verifier: DER, or text without the white space that files and mails add.
    let bytes: [UInt8]

    /// - Parameter path: `-` for standard input.
    init(path: String) throws(CommandError) {
        let data: Data?
        do {
            let handle = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            // Twice the limit is enough to detect a file that is too large.
            data = try handle.read(upToCount: 2 * ProofVerifier.maximumSize)
        } catch {
            throw CommandError(
                "fileUnreadable", "\"\(path)\" cannot be read. Check that it is a file and that you may read it.")
        }
        let bytes = [UInt8](data ?? Data())
        let isDER = bytes.first == 0x30
        self.bytes = isDER ? bytes : bytes.filter { !Self.whitespace.contains($0) }
    }

    /// The proof as an app sends it.
    var proof: Proof {
        if bytes.first == 0x30 { return .receipt(Base64.encode(bytes)) }
        let text = String(decoding: bytes, as: UTF8.self)
        return text.contains(".") ? .signedTransaction(text) : .receipt(text)
    }

    private static let whitespace = Set("\n\r\t ".utf8)
}

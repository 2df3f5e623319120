import AppStore
import Foundation
import HTTPSupport
import Proofs
import Service

/// The verdict of `till receipt validate` on a proof.
enum ValidationReport {
    case valid(ProofResource)
    /// - Parameter reason: An error code, as a service returns it.
    case invalid(reason: String, message: String)

    /// The verdict as JSON.
    var report: Report {
        switch self {
        case .invalid(let reason, let message):
            let step = ProofRefusal.Reason(rawValue: reason)?.step
            return ["valid": false, "reason": reason, "message": message, "step": step]
        case .valid(let proof):
            let isReceipt = proof.kind == .appReceipt
            return [
                "valid": true, "kind": proof.kind, "origin": proof.origin, "environment": proof.environment,
                "bundleId": proof.bundleId, "createdAt": isReceipt ? proof.signedAt : nil,
                "signedAt": isReceipt ? nil : proof.signedAt, "inAppPurchases": proof.purchases ?? [],
            ]
        }
    }

    /// The verdict as text.
    var lines: [String] {
        switch self {
        case .invalid(let reason, _): return ["invalid: \(reason)"]
        case .valid(let proof):
            let isReceipt = proof.kind == .appReceipt
            let purchases = proof.purchases ?? []
            return [
                "valid", "  kind: \(proof.kind.rawValue)", "  origin: \(proof.origin.rawValue)",
                proof.bundleId.map { "  app: \($0)" }, "  \(isReceipt ? "created" : "signed"): \(proof.signedAt)",
                isReceipt && purchases.isEmpty ? "  purchases: none" : nil,
            ].compactMap(\.self)
                + purchases.map { "  purchase: \($0.productId)  \($0.transactionId)  \($0.purchaseDate)" }
        }
    }
}

extension FileHandle {
    /// The beginning of a file that a command names.
    ///
    /// - Parameter path: `-` for standard input.
    static func bytes(of path: String, upTo limit: Int) throws(CommandError) -> [UInt8] {
        do {
            let handle = path == "-" ? FileHandle.standardInput : try FileHandle(forReadingFrom: URL(filePath: path))
            return [UInt8](try handle.read(upToCount: limit) ?? Data())
        } catch {
            throw CommandError(
                "fileUnreadable", "\"\(path)\" cannot be read. Check that it is a file and that you may read it.")
        }
    }
}

/// A file with a proof of purchase: saved text, or the DER of an app receipt.
struct ProofFile {
    /// The proof for a verifier: DER, or text without the white space that files and mails add.
    let bytes: [UInt8]

    /// - Parameter path: `-` for standard input.
    init(path: String) throws(CommandError) {
        // Twice the limit is enough to detect a file that is too large.
        let bytes = try FileHandle.bytes(of: path, upTo: 2 * ProofVerifier.maximumSize)
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

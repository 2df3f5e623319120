import AppStore
import Console
import Foundation
import HTTPSupport
import Proofs
import Service
import Vocabulary

/// The verdict of `till receipt validate` on a proof.
enum ValidationReport {
    /// - Parameter purchase: The fields of a signed purchase of Google Play. Nil for other proofs, and for the verdict of a service.
    case valid(ProofResource, purchase: GooglePlayPurchase? = nil)
    /// - Parameter reason: An error code, as a service returns it.
    case invalid(reason: String, message: String)

    /// The verdict as JSON.
    var report: Report {
        switch self {
        case .invalid(let reason, let message):
            let step = ProofRefusal.Reason(rawValue: reason)?.step
            return ["valid": false, "reason": reason, "message": message, "step": step]
        case .valid(let proof, let purchase):
            let isReceipt = proof.kind == .appReceipt
            return [
                "valid": true, "kind": proof.kind, "origin": proof.origin, "environment": proof.environment,
                "bundleId": proof.bundleId, "createdAt": isReceipt ? proof.signedAt : nil,
                "signedAt": isReceipt ? nil : proof.signedAt, "inAppPurchases": proof.purchases ?? [],
                "notification": proof.notification,
                "fields": purchase.flatMap { JSONContent(json: JSONValue.object($0.fields).compactText) },
            ]
        }
    }

    /// The verdict as text.
    var lines: [String] {
        switch self {
        case .invalid(let reason, _): return ["invalid: \(reason)"]
        case .valid(let proof, let purchase):
            let isReceipt = proof.kind == .appReceipt
            let purchases = proof.purchases ?? []
            return [
                "valid", "  kind: \(proof.kind.rawValue)", "  origin: \(proof.origin.rawValue)",
                proof.bundleId.map { "  app: \($0)" }, "  \(isReceipt ? "created" : "signed"): \(proof.signedAt)",
                proof.notification.map { notification in
                    "  notification: "
                        + [notification.type, notification.subtype].compactMap(\.self).joined(separator: "  ")
                },
                isReceipt && purchases.isEmpty ? "  purchases: none" : nil,
            ].compactMap(\.self)
                + (purchases + (proof.notification?.purchases ?? [])).map { purchase in
                    let details = [
                        purchase.productId, purchase.transactionId, purchase.purchaseDate,
                        purchase.expiresDate.map { "until \($0)" }, purchase.type,
                        purchase.revocationDate.map { "revoked \($0)" },
                    ]
                    return "  purchase: " + details.compactMap(\.self).joined(separator: "  ")
                }
                + (purchase?.fields.members ?? []).map { member in
                    let meaning = ProofFieldMeaning.phrase(of: member.key).map { "  (\($0.english))" } ?? ""
                    return "  \(member.key): \(member.value.compactText)\(meaning)"
                }
        }
    }
}

extension FileHandle {
    /// The beginning of a file that a command names.
    ///
    /// - Parameter path: `-` for standard input.
    static func bytes(of path: String, upTo limit: Int) throws(CommandError) -> [UInt8] {
        let handle = path == "-" ? FileHandle.standardInput : NamedFile.handle(of: URL(filePath: path))
        guard let handle, let data = try? handle.read(upToCount: limit) ?? Data() else {
            throw CommandError("fileUnreadable", NamedFile.fault(of: path))
        }
        guard !data.isEmpty else { throw CommandError("fileEmpty", "\"\(path)\" is empty. Name another file.") }
        return [UInt8](data)
    }
}

/// A file with a proof of purchase: saved text, or the DER of an app receipt.
struct ProofFile {
    /// The proof for a verifier: DER, or text without the white space that files and mails add. A signed purchase of Google Play is the JSON
    /// object of its text, to the byte, and its signature.
    let bytes: [UInt8]

    /// Twice the limit of proofs is enough to detect a file that is too large.
    private static let limit = 2 * ProofVerifier.maximumSize

    /// - Parameters:
    ///   - path: `-` for standard input.
    ///   - signature: The file with the signature of Google Play, whose signed text is the first file; nil for none.
    init(path: String, signature: String? = nil) throws(CommandError) {
        let bytes = try FileHandle.bytes(of: path, upTo: Self.limit)
        if let signature {
            let signature = try FileHandle.bytes(of: signature, upTo: Self.limit)
            self.bytes =
                SignedPurchase(data: bytes, signature: signature.filter { !Self.whitespace.contains($0) }).json
                .compactBytes
        } else if let object = Self.object(bytes) {
            self.bytes = object
        } else {
            let isDER = bytes.first == 0x30
            self.bytes = isDER ? bytes : bytes.filter { !Self.whitespace.contains($0) }
        }
    }

    /// The JSON object of a signed purchase of Google Play, whose spaces are signed, or of a purchase token; nil for another file.
    private static func object(_ bytes: [UInt8]) -> [UInt8]? {
        let object = Array(bytes.drop { whitespace.contains($0) })
        // A wrong object is refused by the verifier.
        let isOfGooglePlay = (try? SignedPurchase(json: object)) != nil || (try? GooglePlayToken(json: object)) != nil
        return isOfGooglePlay ? object : nil
    }

    /// The proof as an app sends it.
    var proof: Proof {
        if let purchase = try? SignedPurchase(json: bytes) {
            return .googlePlay(
                purchase: String(decoding: purchase.data, as: UTF8.self),
                signature: String(decoding: purchase.signature, as: UTF8.self))
        }
        if let token = try? GooglePlayToken(json: bytes) { return .purchaseToken(token) }
        let text = text
        return bytes.first == 0x30 || !text.contains(".") ? .receipt(text) : .signedTransaction(text)
    }

    var text: String { bytes.first == 0x30 ? Base64.encode(bytes) : String(decoding: bytes, as: UTF8.self) }

    private static let whitespace = Set("\n\r\t ".utf8)
}

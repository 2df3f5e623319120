import Foundation
import Proofs
import TestSupport
import Testing

/// Signed transactions that were measured with Apple's own libraries, with Till's result for each.
///
/// Till refuses a transaction if the libraries disagree. It also refuses three that both libraries accept. None of them
/// occurs in Apple's proofs:
/// - Padded base64url.
/// - A leaf that is an authority.
/// - A payload without the date at which its chain is judged.
@Suite struct AppleLibrariesMatrixTests {
    /// The parts of a JWS. A row may change each of them before or after the signature.
    struct Parts {
        var header: JSONObject
        var payload: [UInt8]
        var key: PrivateKey
        /// The encoding of the segments.
        var encode: (any Sequence<UInt8>) -> String = { Base64.encode(Array($0), .urlSafe) }
        var signature: ([UInt8]) -> [UInt8] = { $0 }
        /// The last change, to the compact form.
        var finish: (String) -> String = { $0 }

        init(chain: CertificateChain) {
            header = ["alg": "ES256", "x5c": .array(chain.certificates.map { .string(Base64.encode($0.der)) })]
            payload = Array(JSONValue.object(TestProofs.transactionPayload()).compactText.utf8)
            key = chain.leaf.key
        }

        var x5c: [JSONValue] {
            get { if case .array(let values)? = header["x5c"] { values } else { [] } }
            set { set("x5c", .array(newValue)) }
        }

        mutating func set(_ name: String, _ value: JSONValue?) {
            var changed = JSONObject()
            for member in header.members where member.key != name { _ = changed.add(member.key, member.value) }
            if let value { _ = changed.add(name, value) }
            header = changed
        }

        mutating func set(payload changes: [String: JSONValue?]) {
            payload = Array(JSONValue.object(TestProofs.transactionPayload(changing: changes)).compactText.utf8)
        }

        func compact() throws -> [UInt8] {
            let input = encode(JSONValue.object(header).compactText.utf8) + "." + encode(payload)
            let signed = signature(try key.signES256(Array(input.utf8)))
            return Array(finish(input + "." + encode(signed)).utf8)
        }
    }
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let expected: ProofRefusal.Reason?
        let change: @Sendable (inout Parts) throws -> Void

        init(
            _ name: String,
            _ expected: ProofRefusal.Reason?,
            _ change: @Sendable @escaping (inout Parts) throws -> Void = { _ in }
        ) {
            self.name = name
            self.expected = expected
            self.change = change
        }

        var testDescription: String { name }
    }

    /// The order of P-256's group.
    private static let order: [UInt8] = [
        0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xBC, 0xE6, 0xFA, 0xAD,
        0xA7,
        0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
    ]

    /// Returns the second valid signature of every ECDSA signature: the same r, with s subtracted from the order.
    private static func mirrored(_ signature: [UInt8]) -> [UInt8] {
        var borrow = 0
        var result = signature
        for index in (0..<32).reversed() {
            let difference = Int(order[index]) - Int(signature[32 + index]) - borrow
            borrow = difference < 0 ? 1 : 0
            result[32 + index] = UInt8(truncatingIfNeeded: difference)
        }
        return result
    }

    static let container = [
        Row("good", nil),
        Row("kid and typ", nil) {
            $0.set("kid", "k")
            $0.set("typ", "JWT")
        },
        Row("x5c[2] is text", nil) { $0.x5c[2] = "AAAA" },
        Row("x5c of two", .chainShape) { $0.x5c.removeLast() },
        Row("x5c of four", .chainShape) { $0.x5c.append($0.x5c[2]) },
        Row("x5c empty", .signerCertificateMissing) { $0.x5c = [] },
        Row("x5c missing", .signerCertificateMissing) { $0.set("x5c", nil) },
        Row("x5c reversed", .chainShape) { $0.x5c.reverse() },
        Row("x5c of numbers", .signerCertificateMissing) { $0.x5c = [.integer(1), .integer(2), .integer(3)] },
        Row("x5c in base64url", .signerCertificateMissing) { parts in
            parts.x5c = parts.x5c.map { value in
                guard case .string(let text) = value else { return value }
                return .string(text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""))
            }
        },
        Row("x5c with newlines", .signerCertificateMissing) { parts in
            parts.x5c = parts.x5c.map { value in
                guard case .string(let text) = value else { return value }
                return .string(text.prefix(64) + "\n" + text.dropFirst(64))
            }
        },
        Row("alg none", .algorithmNotAllowed) { $0.set("alg", "none") },
        Row("alg HS256", .algorithmNotAllowed) { $0.set("alg", "HS256") },
        Row("alg ES384", .algorithmNotAllowed) { $0.set("alg", "ES384") },
        Row("alg es256", .algorithmNotAllowed) { $0.set("alg", "es256") },
        Row("alg missing", .algorithmNotAllowed) { $0.set("alg", nil) },
        Row("crit", .containerInvalid) { $0.set("crit", .array(["x"])) },
        Row("b64 false", .containerInvalid) { $0.set("b64", .bool(false)) },
        Row("signature flipped", .signatureInvalid) { $0.signature = { [$0[0] ^ 1] + $0.dropFirst() } },
        Row("signature empty", .signatureInvalid) { $0.signature = { _ in [] } },
        Row("signature zero", .signatureInvalid) { $0.signature = { _ in Array(repeating: 0, count: 64) } },
        Row("signature in DER", .signatureInvalid) {
            $0.signature = { [0x30, 68, 2, 32] + $0.prefix(32) + [2, 32] + $0.suffix(32) }
        },
        Row("signature with a byte more", .signatureInvalid) { $0.signature = { $0 + [0] } },
        Row("signature by another key", .signatureInvalid) { $0.key = try PrivateKey.generate(.p256) },
        Row("signature mirrored", nil) { $0.signature = mirrored },
        Row("payload of another", .signatureInvalid) { parts in
            let other = Base64.encode(Array("{}".utf8), .urlSafe)
            parts.finish = { compact in
                let segments = compact.split(separator: ".")
                return "\(segments[0]).\(other).\(segments[2])"
            }
        },
        Row("padded", .encodingInvalid) {
            $0.encode = { bytes in
                let text = Base64.encode(Array(bytes), .urlSafe)
                return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
            }
            // Leading spaces make the payload's length require padding.
            $0.payload = [UInt8](repeating: 0x20, count: 3 - $0.payload.count % 3 + 1) + $0.payload
        },
        Row("standard alphabet", .encodingInvalid) {
            $0.encode = {
                Base64.encode(Array($0), .urlSafe).replacing("-", with: "+").replacing("_", with: "/")
            }
            $0.set("kid", "???>>>~~~")
        },
        Row("newline at the end", .encodingInvalid) { $0.finish = { $0 + "\n" } },
        Row("two segments", .encodingInvalid) {
            $0.finish = { $0.split(separator: ".").prefix(2).joined(separator: ".") }
        },
        Row("four segments", .encodingInvalid) { $0.finish = { $0 + ".AAAA" } },
        Row("empty", .encodingInvalid) { $0.finish = { _ in "" } },
    ]

    static let payload = [
        Row("signedDate missing", .payloadInvalid) { $0.set(payload: ["signedDate": nil]) },
        Row("signedDate a float", nil) {
            $0.payload = Array(
                String(decoding: $0.payload, as: UTF8.self)
                    .replacing("\"signedDate\":1780000000000", with: "\"signedDate\":1780000000000.5").utf8)
        },
        Row("unknown fields and values", nil) { $0.set(payload: ["new": .array([.null]), "type": "Rental"]) },
        Row("null fields", nil) { $0.set(payload: ["appAccountToken": .null, "offerType": .null]) },
        Row("a key twice", .payloadInvalid) {
            $0.payload = Array((String(decoding: $0.payload, as: UTF8.self).dropLast() + ",\"bundleId\":\"x\"}").utf8)
        },
        Row("no JSON", .payloadInvalid) { $0.payload = Array("hello".utf8) },
        Row("an array", .payloadInvalid) { $0.payload = Array("[]".utf8) },
        Row("an empty object", .payloadInvalid) { $0.payload = Array("{}".utf8) },
        Row("another bundleId", .bundleIdentifierMismatch) { $0.set(payload: ["bundleId": "com.example"]) },
        Row("bundleId missing", .payloadInvalid) { $0.set(payload: ["bundleId": nil]) },
        Row("bundleId in capitals", .bundleIdentifierMismatch) {
            $0.set(payload: ["bundleId": .string(TestProofs.bundleIdentifier.uppercased())])
        },
        Row("another environment", .environmentMismatch) { $0.set(payload: ["environment": "Production"]) },
        Row("an unknown environment", .payloadInvalid) { $0.set(payload: ["environment": "Moon"]) },
        Row("environment missing", .payloadInvalid) { $0.set(payload: ["environment": nil]) },
        Row("environment Xcode", .originNotAccepted) { $0.set(payload: ["environment": "Xcode"]) },
        Row("another bundleId and environment", .bundleIdentifierMismatch) {
            $0.set(payload: ["bundleId": "com.example", "environment": "Production"])
        },
        Row("appAccountToken no UUID", nil) { $0.set(payload: ["appAccountToken": "alice"]) },
        Row("appAccountToken empty", nil) { $0.set(payload: ["appAccountToken": ""]) },
        Row("quantity a string", .payloadInvalid) { $0.set(payload: ["quantity": "1"]) },
        Row("price over 32 bits", nil) { $0.set(payload: ["price": .integer(5_000_000_000)]) },
        Row("purchaseDate a string", .payloadInvalid) { $0.set(payload: ["purchaseDate": "today"]) },
        Row("exp", .payloadInvalid) { $0.set(payload: ["exp": .integer(1_000_000_000)]) },
        Row("nbf", .payloadInvalid) { $0.set(payload: ["nbf": .integer(4_000_000_000)]) },
        Row("aud", .payloadInvalid) { $0.set(payload: ["aud": "somebody"]) },
        Row("iss", nil) { $0.set(payload: ["iss": "somebody"]) },
    ]

    @Test(arguments: container + payload)
    func `a transaction is accepted or refused like in the matrix`(row: Row) throws {
        let chain = try TestChains.ellipticCurve.get()
        let verifier = ProofVerifier(anchors: try TestChains.anchors(chain), clock: ManualClock())
        var parts = Parts(chain: chain)
        try row.change(&parts)
        let expectations = ProofExpectations(
            bundleIdentifier: TestProofs.bundleIdentifier, environment: .sandbox,
            origins: [.localSandbox, .localProduction])
        var reason: ProofRefusal.Reason?
        do {
            _ = try verifier.verify(try parts.compact(), expecting: expectations)
        } catch let refusal as ProofRefusal {
            reason = refusal.reason
        }
        #expect(reason == row.expected)
    }
}

import Foundation
import Proofs
import TestSupport
import Testing

/// Real purchases that Google Play has signed, and forgeries of them, if they are available.
@Suite(.enabled(if: Vectors.areAvailable, "TILL_VECTORS names no folder"))
struct SignedPurchaseVectorTests {
    /// A row of the index of the vectors.
    struct Vector: Sendable, CustomTestStringConvertible {
        let name: String
        let packageName: String
        let isValid: Bool
        let purchase: SignedPurchase
        /// The app's key in base64.
        let key: String

        var testDescription: String { name }

        init?(_ row: JSONObject, in folder: URL) {
            func text(_ field: String) -> String? {
                guard case .string(let text)? = row[field] else { return nil }
                return text
            }
            func bytes(_ field: String) -> [UInt8]? {
                text(field).flatMap { try? Data(contentsOf: folder.appending(path: $0)) }.map { [UInt8]($0) }
            }
            guard let name = text("name"), let packageName = text("packageName"), let data = bytes("data"),
                let signature = bytes("signature"), let key = bytes("key")
            else { return nil }
            (self.name, self.packageName, isValid) = (name, packageName, text("verdict") == "signature-valid")
            purchase = SignedPurchase(data: data, signature: signature.filter { $0 > 0x20 })
            self.key = String(decoding: key.filter { $0 > 0x20 }, as: UTF8.self)
        }
    }

    static let vectors: [Vector] = {
        guard let folder = Vectors.folder?.appending(path: "google", directoryHint: .isDirectory),
            let index = try? Data(contentsOf: folder.appending(path: "vectors.json")),
            case .array(let rows)? = try? JSONParser.parse([UInt8](index))
        else { return [] }
        return rows.compactMap { row in if case .object(let row) = row { Vector(row, in: folder) } else { nil } }
    }()

    private func verify(_ vector: Vector, as packageName: String? = nil) throws -> GooglePlayPurchase {
        let key = try AppKey(packageName: packageName ?? vector.packageName, base64: vector.key)
        return try SignedPurchaseVerifier(keys: [key], clock: SystemClock()).verify(vector.purchase)
    }

    private func reason(_ body: () throws -> GooglePlayPurchase) -> ProofRefusal.Reason? {
        do {
            _ = try body()
            return nil
        } catch {
            return (error as? ProofRefusal)?.reason
        }
    }

    @Test func `the vectors are present`() {
        #expect(Self.vectors.count == 23)
    }

    @Test(arguments: vectors.filter { $0.name.contains("_inapp") || $0.name.contains("_subscription") })
    func `a purchase that Google Play has signed is verified`(vector: Vector) throws {
        let purchase = try verify(vector)
        #expect(purchase.packageName == vector.packageName)
        #expect(purchase.purchaseToken.hasPrefix(purchase.purchaseToken.prefix(24).lowercased()))
        #expect((purchase.autoRenewing != nil) == vector.name.contains("_subscription"))
        #expect(purchase.unreadableFields.isEmpty)
        #expect(reason { try verify(vector, as: "com.example.other") } == .bundleIdentifierMismatch)
        let copy = try #require(try SignedPurchase(json: Array(vector.purchase.json.compactText.utf8)))
        #expect(copy == vector.purchase)
    }

    @Test(arguments: vectors.filter { $0.name.contains("_legacy-orders") })
    func `a purchase in the retired form is refused`(vector: Vector) throws {
        #expect(reason { try verify(vector) } == .purchaseFormRetired)
    }

    @Test func `a key of 1024 bits is refused`() throws {
        let vector = try #require(Self.vectors.first { $0.name.hasPrefix("synthetic") })
        #expect(throws: RSAKeyError.size(bits: 1024)) { try verify(vector) }
    }

    @Test(arguments: vectors.filter { !$0.isValid })
    func `a forgery is refused`(vector: Vector) throws {
        #expect(reason { try verify(vector) } == .signatureInvalid)
    }

    @Test func `two statements about one purchase are both valid for ever`() throws {
        let statements = try Self.vectors.filter { $0.name.contains("org.tasks") && $0.isValid }.map { try verify($0) }
        let same = statements.filter { $0.productIdentifiers == ["annual_03"] }
        #expect(same.count == 2 && Set(same.map(\.purchaseToken)).count == 1)
        #expect(Set(same.map(\.autoRenewing)) == [true, false])
        #expect(Set(same.map(\.digest)).count == 2)
    }
}

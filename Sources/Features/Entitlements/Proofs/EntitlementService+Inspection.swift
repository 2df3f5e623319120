import Catalog
import Ledger
import Proofs

/// The use cases for people who look at a proof. They store nothing.
extension EntitlementService {
    /// Decodes a proof, and verifies it as for a redemption by a user for whom every accepted origin is valid.
    package func inspect(_ proof: [UInt8]) -> InspectedProof {
        let inspection = decode(proof)
        // Xcode's certificate has no extensions of Apple's.
        var unneeded: Set<ProofVerdict.Check> = inspection.anchor?.realm == .xcode ? [.extensions] : []
        do throws(RedemptionError) {
            let verified = try verify(proof)
            let app = try bundleIdentifier(of: verified)
            let products = Self.products(of: verified)
            if products == nil { unneeded.insert(.product) }
            let catalog = catalogs[app]
            let unknown = (products ?? []).filter { catalog?.benefit(of: $0) == nil }
            guard unknown.isEmpty else {
                let names = unknown.prefix(5).map { "\"\($0.prefix(155))\"" }.joined(separator: ", ")
                return InspectedProof(
                    inspection: inspection,
                    verdict: ProofVerdict(
                        .init(
                            code: Redemption.Result.productUnknown.rawValue,
                            message: "The catalog does not have \(names)."),
                        at: .product, withoutNeed: unneeded), origin: verified.origin)
            }
            return InspectedProof(
                inspection: inspection, verdict: ProofVerdict(withoutNeed: unneeded), origin: verified.origin)
        } catch {
            guard case .refused(let refusal) = error, let check = ProofVerdict.Check(refusal.reason.step) else {
                return InspectedProof(
                    inspection: inspection,
                    verdict: ProofVerdict(
                        .init(code: error.code, message: error.message), at: .appAndOrigin, withoutNeed: unneeded),
                    origin: nil)
            }
            return InspectedProof(
                inspection: inspection,
                verdict: ProofVerdict(
                    .init(code: refusal.code, message: refusal.message), at: check, withoutNeed: unneeded),
                origin: nil)
        }
    }

    /// The identifiers of the products that a proof is about, each once. Nil if this kind of proof is about none.
    private static func products(of verified: VerifiedProof) -> [String]? {
        let all = verified.purchases?.map(\.productIdentifier) ?? verified.notifiedTransaction.map { [$0.productId] }
        guard let all else { return nil }
        var known: Set<ByteKey> = []
        return all.filter { known.insert(ByteKey($0)).inserted }
    }

    /// A kept proof of a user's transactions.
    ///
    /// - Parameter digest: The SHA-256 of the signed bytes, by which transactions name their proof.
    /// - Returns: Nil if no such proof of the user was kept.
    package func storedProof(_ digest: [UInt8], of user: User) async throws -> StoredProof? {
        try await ledger.read { try $0.storedProof(digest, of: user) }
    }
}

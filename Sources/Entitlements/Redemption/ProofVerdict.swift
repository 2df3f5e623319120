import Catalog
import Ledger
import Proofs
import Vocabulary

/// The result of each check of a proof, in their order.
package struct ProofVerdict: Hashable, Sendable {
    /// The checks of a proof. Each relies on the success of the earlier ones.
    package enum Check: String, Sendable, CaseIterable {
        case size, encoding, container, chain, extensions, signature, payload, appAndOrigin, product
    }

    package enum Outcome: Hashable, Sendable {
        case passed
        case failed(Failure)
        /// An earlier check has failed.
        case notReached
        /// The check is not for this kind of proof or signer.
        case notNeeded
    }

    /// The reason of a failed check.
    package struct Failure: Hashable, Sendable {
        /// The code of the error, which `/errors` explains.
        package let code: String
        /// The finding in a sentence.
        package let message: String
    }

    /// The check that failed. Nil if none did.
    package let failed: Check?
    package let failure: Failure?
    /// The checks that are not for this kind of proof or signer.
    let unneeded: Set<Check>

    package var isAccepted: Bool { failed == nil }

    package subscript(check: Check) -> Outcome {
        if let failed, let failure {
            let order = Check.allCases
            if check == failed { return .failed(failure) }
            if let own = order.firstIndex(of: check), let last = order.firstIndex(of: failed), own > last {
                return .notReached
            }
        }
        return unneeded.contains(check) ? .notNeeded : .passed
    }
}

extension ProofVerdict.Check {
    /// The check of a verification's step. Nil for the revocation of certificates, which a redemption does not ask for.
    package init?(_ step: ProofRefusal.Step) { self.init(rawValue: step.rawValue) }
}

/// The use cases for people who look at a proof. They store nothing.
extension EntitlementService {
    /// Decodes a proof, and verifies it as for a redemption by a user for whom every accepted origin is valid.
    package func inspect(_ proof: [UInt8]) -> InspectedProof {
        let inspection = verifier.inspect(proof)
        // Xcode's certificate has no extensions of Apple's. Google Play has no certificates.
        var unneeded: Set<ProofVerdict.Check> = inspection.anchor?.realm == .xcode ? [.extensions] : []
        if inspection.kind == .signedPurchase { unneeded = [.container, .chain, .extensions] }
        func inspected(
            _ failure: ProofVerdict.Failure? = nil, at check: ProofVerdict.Check? = nil, from origin: Origin? = nil
        ) -> InspectedProof {
            InspectedProof(
                inspection: inspection, verdict: ProofVerdict(failed: check, failure: failure, unneeded: unneeded),
                origin: origin)
        }
        do throws(RedemptionError) {
            let verified = try verify(proof)
            let app = try bundleIdentifier(of: verified)
            let products = Self.products(of: verified)
            if products == nil { unneeded.insert(.product) }
            let catalog = catalogs[app]
            let unknown = (products ?? []).filter { catalog?.benefit(of: $0) == nil }
            guard !unknown.isEmpty else { return inspected(from: verified.origin) }
            let names = unknown.prefix(5).map { "\"\($0.prefix(155))\"" }.joined(separator: ", ")
            return inspected(
                .init(
                    code: Redemption.Result.productUnknown.rawValue, message: "The catalog does not have \(names)."),
                at: .product, from: verified.origin)
        } catch {
            let step: ProofRefusal.Step? = if case .refused(let refusal) = error { refusal.reason.step } else { nil }
            return inspected(
                .init(code: error.code, message: error.message), at: step.flatMap { .init($0) } ?? .appAndOrigin)
        }
    }

    /// The identifiers of the products that a proof is about, each once. Nil if this kind of proof is about none.
    private static func products(of verified: VerifiedProof) -> [String]? {
        let all = verified.purchases?.map(\.productIdentifier) ?? verified.notifiedTransaction.map { [$0.productId] }
        guard let all else { return nil }
        var known: Set<ByteKey> = []
        return all.filter { known.insert(ByteKey($0)).inserted }
    }
}

/// A proof that a person looks at: decoded, and verified as for a redemption.
package struct InspectedProof: Sendable {
    package let inspection: ProofInspection
    package let verdict: ProofVerdict
    /// The origin of an authentic proof. Nil if the proof was refused before its origin was known.
    package let origin: Origin?

    /// The same proof for people who have not brought it.
    package var withoutSecrets: InspectedProof {
        InspectedProof(inspection: inspection.withoutSecrets, verdict: verdict, origin: origin)
    }
}

package struct StoredProof: Hashable, Sendable {
    /// The bytes of the proof: a JWS, or the DER of a receipt. Nil if the stored parts are damaged.
    package let bytes: [UInt8]?
}

extension LedgerTransaction {
    /// A kept proof of a user's transactions.
    ///
    /// - Parameter digest: The SHA-256 of the signed bytes.
    /// - Returns: Nil if no such proof was kept.
    package func storedProof(_ digest: [UInt8], of user: User) throws -> StoredProof? {
        guard try database.has("kept_proof"), let user = try users.known(user) else { return nil }
        let kept: (bytes: [UInt8], certificates: [UInt8])? = try database.row(
            "SELECT bytes, certificates FROM kept_proof WHERE user_id = $1 AND proof_digest = $2", [user, digest]
        ) { (try $0.next(), try $0.next()) }
        guard let kept else { return nil }
        var certificates: [[UInt8]] = []
        for digest in KeptProof.certificateDigests(kept.certificates) {
            guard
                let bytes: [UInt8] = try database.value(
                    "SELECT bytes FROM kept_certificate WHERE digest = $1", [digest])
            else { return StoredProof(bytes: nil) }
            certificates.append(bytes)
        }
        return StoredProof(bytes: KeptProof.assemble(kept.bytes, certificates))
    }
}

extension KeptProof {
    private static let digestLength = 32

    /// The digests in the column `certificates`, where they follow each other.
    static func certificateDigests(_ list: [UInt8]) -> [[UInt8]] {
        stride(from: 0, to: list.count, by: digestLength).map { start in
            Array(list[start..<min(start + digestLength, list.count)])
        }
    }
}

/// The result of verifying the stored proofs again.
package struct ProofReport: Hashable, Sendable {
    /// The number of redeemed transactions whose proof is valid.
    package internal(set) var verified = 0
    /// The number of redeemed transactions without a stored proof.
    package internal(set) var notKept = 0
    /// A sentence for each of the first transactions whose proof is invalid.
    package internal(set) var problems: [String] = []
}

extension LedgerTransaction {
    /// Verifies the stored proof of each redeemed transaction again: its signature, its chain to a trusted certificate, and its
    /// purchase.
    package func checkProofs(by verifier: ProofVerifier) throws -> ProofReport {
        guard try database.has("kept_proof") else {
            return ProofReport(notKept: try database.value("SELECT count(*) FROM redeemed_transaction", []) ?? 0)
        }
        var check = ProofCheck(
            verifier: verifier, names: try tokenNames, apps: try apps,
            certificates: try database.dictionary("SELECT digest, bytes FROM kept_certificate") {
                (try $0.next(), try $0.next())
            })
        try database.streamRows(
            of: """
                SELECT bytes, redeemed.transaction_id, \(ProductRecords.identifier(in: "redeemed")), redeemed.quantity,
                    redeemed.purchase_date, redeemed.proof_digest, certificates, redeemed.app, redeemed.origin
                FROM redeemed_transaction AS redeemed LEFT JOIN kept_proof
                    ON kept_proof.user_id = redeemed.user_id AND kept_proof.proof_digest = redeemed.proof_digest
                ORDER BY redeemed.user_id, redeemed.sequence
                """
        ) { try check.check(&$0) }
        return check.report
    }
}

/// The verification of stored proofs, one redeemed transaction at a time.
private struct ProofCheck {
    private static let maximumProblems = 10

    let verifier: ProofVerifier
    let names: PurchaseTokenNames?
    let apps: AppNumbers
    /// The certificates by their SHA-256.
    let certificates: [[UInt8]: [UInt8]]
    fileprivate(set) var report = ProofReport()
    /// The last proof. One receipt proves many transactions in a row.
    fileprivate var last: (digest: [UInt8], purchases: [ProvenPurchase])?

    mutating func check(_ row: inout ResultRow) throws {
        guard let bytes: [UInt8] = try row.next() else {
            report.notKept += 1
            return
        }
        let identifier: String = try row.next()
        do {
            let (product, quantity): (String, Int) = (try row.next(), try row.next())
            let purchaseDate: Timestamp = try row.next()
            let isProven = try purchases(provenBy: bytes, &row).contains { purchase in
                purchase.transactionIdentifier.hasSameBytes(as: identifier)
                    && purchase.productIdentifier.hasSameBytes(as: product) && purchase.quantity == quantity
                    && purchase.purchaseDate == purchaseDate
            }
            guard isProven else { return report("states another purchase", identifier) }
            report.verified += 1
        } catch let refusal as ProofRefusal {
            report("is refused (\(refusal.code))", identifier)
        } catch is DamagedProof {
            report("is damaged", identifier)
        }
    }

    private mutating func report(_ finding: String, _ identifier: String) {
        guard report.problems.count < Self.maximumProblems else { return }
        report.problems.append("The kept proof of transaction \(identifier) \(finding).")
    }

    private mutating func purchases(provenBy bytes: [UInt8], _ row: inout ResultRow) throws -> [ProvenPurchase] {
        let digest: [UInt8] = try row.next()
        if let last, last.digest == digest { return last.purchases }
        let chain = KeptProof.certificateDigests(try row.next()).compactMap { certificates[$0] }
        guard let proof = KeptProof.assemble(bytes, chain) else { throw DamagedProof() }
        let app = try apps.bundleIdentifier(of: try row.next())
        let expectations = ProofExpectations(
            // A converted ledger does not name its app until a service uses it.
            bundleIdentifier: app.isEmpty ? nil : app, origins: [try row.next()])
        let verified = try verifier.verify(proof, expecting: expectations)
        guard verified.digest == digest, let purchases = verified.purchases(named: names) else { throw DamagedProof() }
        last = (digest, purchases)
        return purchases
    }

    private struct DamagedProof: Error {}
}

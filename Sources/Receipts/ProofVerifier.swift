import Commerce
import Signatures
import StrictJSON

/// Checks proofs of purchase: app receipts, and the signed JSON of transactions, renewals, notifications and apps.
///
/// The order of the checks is that of `ProofRefusal.Step`. Nothing of a payload is believed before its signature holds;
/// its date alone is read earlier, to choose the moment at which the chain is judged.
///
/// One verifier is for many threads and many proofs: it remembers the chains it has judged good.
public struct ProofVerifier: Sendable {
    /// The largest proof looked at, in bytes: a JWS, or the DER of a receipt. Apple's receipt of 187 purchases has 79 KB.
    public static let maximumSize = 1 << 20
    /// The same receipt in base64.
    public static let maximumTextSize = (maximumSize + 2) / 3 * 4
    /// How far ahead of our clock a proof may be dated, in milliseconds: clocks differ, and a receipt comes at once.
    static let clockTolerance: Int64 = 60_000

    private let anchors: TrustAnchors
    private let clock: any WallClock
    private let knownChains = KnownChains()

    public init(anchors: TrustAnchors, clock: any WallClock) {
        self.anchors = anchors
        self.clock = clock
    }

    /// Checks an app receipt in base64 or DER, or a JWS in compact form.
    public func verify(
        _ proof: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        guard proof.count <= Self.maximumTextSize else { throw ProofRefusal(.tooLarge) }
        switch try ProofForm(of: proof) {
        case .appReceipt(let container):
            guard container.count <= Self.maximumSize else { throw ProofRefusal(.tooLarge) }
            return try verify(container: container, expecting: expectations)
        case .signedJSON:
            guard proof.count <= Self.maximumSize else { throw ProofRefusal(.tooLarge) }
            return try verify(compact: proof, expecting: expectations)
        }
    }

    /// Whether a JWS brings a chain that was judged before, so that verifying it costs little.
    public func bringsKnownChain(_ proof: [UInt8]) -> Bool {
        guard let end = proof.firstIndex(of: UInt8(ascii: ".")) else { return false }
        return knownChains.contains(header: proof[..<end])
    }

    /// The number of chains in the cache.
    package var knownChainCount: Int { knownChains.count }

    private func verify(
        container bytes: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        let signedData: SignedData
        do { signedData = try SignedData(ber: bytes) } catch { throw ProofRefusal(error) }
        let moment = AppReceipt.creationDate(ofPayload: signedData.content) ?? clock.now()
        let known = knownChains.find(signedData, at: moment)
        let chain = if let known { known.chain } else { try judge(signedData, at: moment) }
        let digest = signedData.contentDigest
        guard signedData.isSigned(by: chain.key, digest: digest) else { throw ProofRefusal(.signatureInvalid) }
        if known == nil { knownChains.remember(.init(signedData, chain)) }

        var receipt = AppReceipt.blank
        do {
            try receipt.read(payload: signedData.content)
        } catch AppReceiptError.tooManyPurchases(let limit) {
            throw ProofRefusal(.tooManyPurchases, AppReceiptError.tooManyPurchases(limit: limit).message)
        } catch {
            throw ProofRefusal(.payloadInvalid, (error as? AppReceiptError)?.message)
        }
        if let device = expectations.deviceIdentifier, !receipt.isMade(forDevice: device) {
            throw ProofRefusal(.deviceMismatch)
        }
        return try accept(
            .appReceipt(receipt), chain: chain, environment: receipt.environment?.rawValue ?? receipt.receiptType,
            signedAt: receipt.creationDate, bundleIdentifier: receipt.bundleIdentifier,
            // Receipts before 2023 are signed over a SHA-1, which nobody should be remembered by.
            digest: signedData.signer.digest == .sha256
                ? digest : DigestAlgorithm.sha256.digest(of: signedData.content),
            expecting: expectations)
    }

    private func judge(_ signedData: SignedData, at moment: Timestamp) throws(ProofRefusal) -> JudgedChain {
        let certificates = signedData.certificates.compactMap { Certificate(der: Array($0)) }
        var refusal = ProofRefusal(.signerCertificateMissing)
        // Others may have put a certificate with the same name in front, which must not matter before the chain is known
        // either. The reader limits the number of certificates.
        for leaf in signedData.signerCertificates(among: certificates).reversed() {
            do throws(ProofRefusal) {
                return try anchors.judge(leaf: leaf, others: certificates.filter { $0 != leaf }, at: moment)
            } catch {
                refusal = error
            }
        }
        throw refusal
    }

    private func verify(
        compact bytes: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        let (payload, chain, digest) = try verifiedPayload(compact: bytes)
        var proof = try accept(
            payload.content, chain: chain, environment: payload.environment, signedAt: payload.signedAt,
            bundleIdentifier: payload.bundleIdentifier, digest: digest, expecting: expectations)
        guard case .notification(let notification) = payload.content else { return proof }
        for part in notification.signedParts {
            let inner = try verify(part.compact, in: part.field, as: part.kind, of: proof, chain: chain)
            if !proof.chains.contains(inner.chain.path) { proof.chains.append(inner.chain.path) }
            switch inner.content {
            case .transaction(let transaction):
                proof.notifiedTransaction = transaction
                proof.notifiedTransactionProof = VerifiedProof.SignedPart(
                    compact: part.compact, digest: inner.digest, fingerprints: inner.chain.fingerprints)
            case .renewalInfo(let renewalInfo):
                proof.notifiedRenewalInfo = renewalInfo
                proof.notifiedRenewalInfoDigest = inner.digest
            default: break
            }
        }
        return proof
    }

    /// Checks a JWS inside a notification: it leads to the same root, is what its field says, and speaks of the same app and
    /// environment.
    ///
    /// - Returns: What it says, its own chain, and the SHA-256 of what was signed.
    private func verify(
        _ compact: String,
        in field: String,
        as kind: SignedPayload.Kind,
        of notification: VerifiedProof,
        chain: JudgedChain
    ) throws(ProofRefusal) -> (content: VerifiedProof.Content, chain: JudgedChain, digest: [UInt8]) {
        let inner: (payload: SignedPayload, chain: JudgedChain, digest: [UInt8])
        do {
            inner = try verifiedPayload(compact: Array(compact.utf8))
        } catch {
            throw ProofRefusal(.innerProofInvalid, "Of \(field): \(error.code).")
        }
        guard inner.chain.anchor == chain.anchor else {
            throw ProofRefusal(.innerProofInvalid, "\(field) leads to another root than the notification.")
        }
        guard inner.payload.kind == kind else {
            throw ProofRefusal(.innerProofInvalid, "\(field) holds another kind of proof.")
        }
        guard inner.payload.environment == notification.environment.rawValue,
            inner.payload.bundleIdentifier == nil || inner.payload.bundleIdentifier == notification.bundleIdentifier
        else { throw ProofRefusal(.innerProofInvalid, "\(field) is of another app or environment.") }
        return (inner.payload.content, inner.chain, inner.digest)
    }

    /// Takes a JWS through the steps from its encoding to its payload.
    private func verifiedPayload(
        compact bytes: [UInt8]
    ) throws(ProofRefusal) -> (payload: SignedPayload, chain: JudgedChain, digest: [UInt8]) {
        let signed: SignedJSON
        do { signed = try SignedJSON(compact: bytes) } catch { throw ProofRefusal(error) }
        let payload = Result { () throws(JSONSyntaxError) in try JSONParser.parse(signed.payload) }
        let moment = SignedPayload.date(of: payload) ?? clock.now()
        let known = knownChains.find(signed, at: moment)
        let chain = if let known { known.chain } else { try judge(signed, at: moment) }
        let headerDigest = known?.headerDigest ?? signed.headerDigest
        let digest = signed.digest(continuing: headerDigest)
        guard signed.isSigned(by: chain.key, digest: digest) else { throw ProofRefusal(.signatureInvalid) }
        if known == nil {
            knownChains.remember(.init(signed, chain, headerDigest: headerDigest))
        }
        switch payload {
        case .failure(let error): throw ProofRefusal(.payloadInvalid, "In its JSON, \(error.message).")
        case .success(let value):
            do throws(PayloadError) {
                return (try SignedPayload(value), chain, digest)
            } catch {
                throw ProofRefusal(.payloadInvalid, error.message)
            }
        }
    }

    private func judge(_ signed: SignedJSON, at moment: Timestamp) throws(ProofRefusal) -> JudgedChain {
        let encoded: [[UInt8]]
        do { encoded = try signed.certificates() } catch { throw ProofRefusal(error) }
        guard encoded.count == 3 || encoded.count == 1 else { throw ProofRefusal(.chainShape) }
        // The last of three is there to be counted: the anchor is ours.
        let certificates = encoded.prefix(2).compactMap { Certificate(der: $0) }
        guard let leaf = certificates.first, certificates.count == min(encoded.count, 2) else {
            throw ProofRefusal(.signerCertificateMissing)
        }
        return try anchors.judge(leaf: leaf, others: Array(certificates.dropFirst()), at: moment)
    }

    /// The last checks, of what the payload says of itself.
    private func accept(
        _ content: VerifiedProof.Content,
        chain: JudgedChain,
        environment name: String,
        signedAt: Timestamp,
        bundleIdentifier: String?,
        digest: [UInt8],
        expecting expectations: ProofExpectations
    ) throws(ProofRefusal) -> VerifiedProof {
        guard signedAt.millisecondsSince1970 <= clock.now().millisecondsSince1970 + Self.clockTolerance else {
            throw ProofRefusal(.signedInFuture, "It is dated \(signedAt.rfc3339).")
        }
        guard let environment = AppStoreEnvironment(rawValue: name) else {
            throw ProofRefusal(.payloadInvalid, "The environment \"\(name.prefix(32))\" is none of Apple's.")
        }
        let realm = chain.anchor.realm
        guard let origin = Origin(realm: realm, environment: environment) else {
            throw ProofRefusal(
                .originNotAccepted, "A signer of \(realm.rawValue) does not vouch for \(environment.rawValue).")
        }
        try expectations.check(
            app: (bundleIdentifier, StatedAppAppleIdentifier(in: content)), environment: environment, origin: origin)
        return VerifiedProof(
            content: content, origin: origin, environment: environment, signedAt: signedAt,
            bundleIdentifier: bundleIdentifier, digest: digest, chains: [chain.path], fingerprints: chain.fingerprints)
    }
}

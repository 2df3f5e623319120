import Proofs

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
    private let unneeded: Set<Check>

    /// - Parameters:
    ///   - failed: The first failed check; nil if none failed.
    ///   - unneeded: The checks that are not for this kind of proof or signer.
    package init(_ failure: Failure? = nil, at failed: Check? = nil, withoutNeed unneeded: Set<Check> = []) {
        self.failure = failure
        self.failed = failed
        self.unneeded = unneeded
    }

    package var isAccepted: Bool { failed == nil }

    /// The outcome of a check.
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
    package init?(_ step: ProofRefusal.Step) {
        switch step {
        case .size: self = .size
        case .encoding: self = .encoding
        case .container: self = .container
        case .chain: self = .chain
        case .extensions: self = .extensions
        case .signature: self = .signature
        case .payload: self = .payload
        case .appAndOrigin: self = .appAndOrigin
        case .revocation: return nil
        }
    }
}

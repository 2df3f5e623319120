import Proofs

extension PromotionalOfferSignature {
    /// The lifetime of a signature, in milliseconds (Apple, "Generating a signature for promotional offers").
    private static let lifetime: UInt64 = 24 * 60 * 60 * 1000

    /// True if the signature's date differs from now by a day at most.
    package func isCurrent(at now: Timestamp) -> Bool {
        let (age, isOverflow) = now.millisecondsSince1970.subtractingReportingOverflow(timestamp.millisecondsSince1970)
        return !isOverflow && age.magnitude <= Self.lifetime
    }
}

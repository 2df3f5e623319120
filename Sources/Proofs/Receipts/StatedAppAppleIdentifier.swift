/// The app's Apple ID in a payload.
enum StatedAppAppleIdentifier {
    /// The kind of payload has no such field.
    case never
    /// The value of the field, or nil if the field is missing.
    case possible(Int64?)

    init(in content: VerifiedProof.Content) {
        self =
            switch content {
            case .notification(let notification): .possible(notification.appAppleId)
            case .appTransaction(let appTransaction): .possible(appTransaction.appAppleId)
            case .appReceipt, .transaction, .renewalInfo: .never
            }
    }
}

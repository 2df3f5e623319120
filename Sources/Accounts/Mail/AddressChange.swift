import Commerce

/// A change of an account's address that waits until it is confirmed at both addresses.
public struct AddressChange: Hashable, Sendable {
    /// The new address, as it was typed.
    public let email: String
    public let emailLowercase: String
    public let askedAt: Timestamp
    public private(set) var isConfirmedAtOld: Bool
    public private(set) var isConfirmedAtNew: Bool

    package init(
        email: String,
        emailLowercase: String,
        askedAt: Timestamp,
        isConfirmedAtOld: Bool,
        isConfirmedAtNew: Bool
    ) {
        self.email = email
        self.emailLowercase = emailLowercase
        self.askedAt = askedAt
        self.isConfirmedAtOld = isConfirmedAtOld
        self.isConfirmedAtNew = isConfirmedAtNew
    }

    /// A change that nobody has confirmed. An address that was never verified may be nobody's mailbox, or a stranger's: only a
    /// verified one is asked.
    init(to email: EmailAddress, of account: AccountRecord, at moment: Timestamp) {
        self.init(
            email: email.text, emailLowercase: email.lowercase, askedAt: moment,
            isConfirmedAtOld: account.emailVerifiedAt == nil, isConfirmedAtNew: false)
    }

    /// The mails that ask for a confirmation, each with its recipient.
    func mails(of account: AccountRecord) -> [(purpose: LinkPurpose, email: String)] {
        let old = isConfirmedAtOld ? [] : [(purpose: LinkPurpose.addressChange, email: account.email)]
        return old + [(.newAddress, email)]
    }

    var isComplete: Bool { isConfirmedAtOld && isConfirmedAtNew }

    /// The same change after a link was used.
    func confirmed(by purpose: LinkPurpose) -> AddressChange {
        var change = self
        switch purpose {
        case .addressChange: change.isConfirmedAtOld = true
        case .newAddress: change.isConfirmedAtNew = true
        case .verification, .reset: break
        }
        return change
    }
}

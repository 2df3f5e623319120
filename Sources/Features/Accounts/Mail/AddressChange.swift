import Proofs

/// A pending change of an account's address, which both addresses must confirm.
package struct AddressChange: Hashable, Sendable {
    /// The new address as the user wrote it.
    package let email: String
    package let emailLowercase: String
    package let askedAt: Timestamp
    package private(set) var isConfirmedAtOld: Bool
    package private(set) var isConfirmedAtNew: Bool

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

    /// An unconfirmed change. An unverified old address may be a stranger's mailbox or none, so only a verified one must
    /// confirm.
    init(to email: EmailAddress, of account: AccountRecord, at moment: Timestamp) {
        self.init(
            email: email.text, emailLowercase: email.lowercase, askedAt: moment,
            isConfirmedAtOld: account.emailVerifiedAt == nil, isConfirmedAtNew: false)
    }

    /// The mails that ask for a confirmation, with their recipients.
    func mails(of account: AccountRecord) -> [(purpose: LinkPurpose, email: String)] {
        let old = isConfirmedAtOld ? [] : [(purpose: LinkPurpose.addressChange, email: account.email)]
        return old + [(.newAddress, email)]
    }

    var isComplete: Bool { isConfirmedAtOld && isConfirmedAtNew }

    /// The change after a link was used.
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

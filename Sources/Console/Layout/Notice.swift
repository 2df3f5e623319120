/// A confirmation that a page shows after a form succeeded. Its name is the parameter `done` of the page's address.
enum Notice: String, Sendable {
    case saved, created, removed, withdrawn, restored, given, revoked, reinstated, credited, moved, assigned, queued,
        erased
    case secretReplaced, started, bought, redeemed, approved, declined, refunded, advanced, cleared, performed

    var sentence: Phrase {
        switch self {
        case .saved: "Saved."
        case .created: "Created."
        case .removed: "Removed."
        case .withdrawn: "Withdrawn from sale."
        case .restored: "Restored."
        case .given: "The item was given."
        case .revoked: "Revoked."
        case .reinstated: "Reinstated."
        case .credited: "The balance was increased."
        case .moved: "The purchase was moved to this customer."
        case .assigned: "The purchase was assigned."
        case .queued: "The messages will be sent again."
        case .erased: "The customer was erased."
        case .secretReplaced: "The secret was replaced."
        case .started: "Started."
        case .bought: "Bought."
        case .redeemed: "Redeemed at the service."
        case .approved: "Approved."
        case .declined: "Declined."
        case .refunded: "Refunded."
        case .advanced: "The clock was advanced."
        case .cleared: "Cleared."
        case .performed: "Done."
        }
    }
}

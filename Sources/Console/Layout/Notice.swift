/// A confirmation that a page shows after a form succeeded. Its name is the parameter `done` of the page's address.
enum Notice: String, Sendable, CaseIterable {
    case saved
    case created
    case removed
    case withdrawn
    case restored
    case given
    case revoked
    case reinstated
    case credited
    case assigned
    case queued
    case erased
    case secretReplaced
    case started
    case bought
    case redeemed
    case approved
    case declined
    case refunded
    case advanced
    case cleared
    case performed

    var sentence: Phrase {
        switch self {
        case .saved: Phrase("Saved.", "저장했습니다.")
        case .created: Phrase("Created.", "만들었습니다.")
        case .removed: Phrase("Removed.", "삭제했습니다.")
        case .withdrawn: Phrase("Withdrawn from sale.", "판매를 중단했습니다.")
        case .restored: Phrase("Restored.", "되돌렸습니다.")
        case .given: Phrase("The item was given.", "아이템을 지급했습니다.")
        case .revoked: Phrase("Revoked.", "회수했습니다.")
        case .reinstated: Phrase("Reinstated.", "다시 유효합니다.")
        case .credited: Phrase("The balance was increased.", "잔액을 늘렸습니다.")
        case .assigned: Phrase("The purchase was assigned.", "구매를 배정했습니다.")
        case .queued: Phrase("The messages will be sent again.", "메시지를 다시 보냅니다.")
        case .erased: Phrase("The customer was erased.", "고객을 삭제했습니다.")
        case .secretReplaced: Phrase("The secret was replaced.", "비밀 값을 교체했습니다.")
        case .started: Phrase("Started.", "시작했습니다.")
        case .bought: Phrase("Bought.", "구매했습니다.")
        case .redeemed: Phrase("Redeemed at the service.", "서비스에서 지급받았습니다.")
        case .approved: Phrase("Approved.", "승인했습니다.")
        case .declined: Phrase("Declined.", "거절했습니다.")
        case .refunded: Phrase("Refunded.", "환불했습니다.")
        case .advanced: Phrase("The clock was advanced.", "시계를 앞으로 돌렸습니다.")
        case .cleared: Phrase("Cleared.", "비웠습니다.")
        case .performed: Phrase("Done.", "완료했습니다.")
        }
    }
}

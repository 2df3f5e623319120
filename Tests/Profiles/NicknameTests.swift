import Entitlements
import Features
import Testing

/// The rules of nicknames.
@Suite struct NicknameTests {
    @Test(
        arguments: [
            ("새싹", "새싹"), ("  민트 새싹 ", "민트 새싹"), ("abcdefghi", "abcdefghi"), ("千代萬歲", "千代萬歲"),
            ("\u{1F331}\u{1F469}\u{200D}\u{1F33E}", "\u{1F331}\u{1F469}\u{200D}\u{1F33E}"), ("e\u{301}e\u{301}", "éé"),
            ("새싹새싹새싹새싹새", "새싹새싹새싹새싹새"), ("O'Hara-Ng", "O'Hara-Ng"),
            ("❤️❤️", "❤️❤️"), ("葛\u{E0100}城", "葛\u{E0100}城"),
        ])
    func `a valid nickname is accepted`(text: String, kept: String) throws {
        #expect(try Nickname(text).text == kept)
    }

    @Test(
        arguments: [
            ("", ProfileError.nicknameTooShort), ("새", .nicknameTooShort), ("   a   ", .nicknameTooShort),
            ("e\u{301}", .nicknameTooShort), ("abcdefghij", .nicknameTooLong),
            ("새싹새싹새싹새싹새싹", .nicknameTooLong), ("a" + String(repeating: "\u{301}", count: 500), .nicknameTooLong),
            ("mint1", .nicknameHasDigit), ("민트٣", .nicknameHasDigit), ("민트①", .nicknameHasDigit),
            ("1️⃣새싹", .nicknameHasDigit), ("Ⅷ世", .nicknameHasDigit), ("a@b", .nicknameCharacterForbidden),
            ("#mint", .nicknameCharacterForbidden), ("$$", .nicknameCharacterForbidden),
            ("50%", .nicknameHasDigit), ("abc%", .nicknameCharacterForbidden), ("a\nb", .nicknameCharacterForbidden),
            ("a\u{0}b", .nicknameCharacterForbidden), ("a\u{202E}b", .nicknameCharacterForbidden),
            ("\u{3164}\u{3164}", .nicknameCharacterForbidden), ("\u{2800}\u{2800}", .nicknameCharacterForbidden),
            ("a\u{34F}b", .nicknameCharacterForbidden), ("\u{200D}\u{200D}", .nicknameTooShort),
            ("\u{FE0F} \u{FE0F}", .nicknameTooShort),
            ("a \u{200D}", .nicknameTooShort),
            ("a\u{200B}b", .nicknameCharacterForbidden), ("a\u{FFFD}b", .nicknameCharacterForbidden),
        ])
    func `each broken rule has its own error`(text: String, error: ProfileError) {
        #expect(throws: error) { try Nickname(text) }
    }
}

/// The search field that limits a list to one account.
struct StoreAccountFilter {
    let path: ConsolePath
    let account: String?

    var form: HTML {
        Console.form(.class("actions"), .method("get"), .action(path), .role("search")) {
            label(.for("account")) { Phrase("Account", "계정") }
            input(
                .type("search"), .id("account"), .name("account"), .value(account ?? ""),
                HTMLAttribute("maxlength", "256"), .class("narrow"))
            button { Phrase("Filter", "필터") }
            if account != nil { a(.href(path)) { Phrase("All accounts", "모든 계정") } }
        }
    }
}

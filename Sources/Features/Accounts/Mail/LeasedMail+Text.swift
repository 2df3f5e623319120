extension LeasedMail {
    /// The values of the placeholders.
    func values(_ links: MailLinks) -> [MailTemplate.Placeholder: String] {
        [
            .link: link(links), .releaseLink: links.link("release", token), .token: token.text, .email: mail.email,
            .newEmail: newEmail ?? mail.email, .hours: String(mail.purpose.lifetime / 3600),
            .minutes: String(mail.purpose.lifetime / 60),
        ]
    }

    /// The link of the mail.
    package func link(_ links: MailLinks) -> String {
        links.link(mail.purpose == .reset ? "reset" : "confirm", token)
    }

    /// The subject and the text; nil for a purpose without a template.
    package func rendered(_ templates: MailTemplates, _ links: MailLinks) -> (subject: String, text: String)? {
        templates.template(for: mail.purpose, in: mail.language)?.rendered(values(links))
    }
}
